/** The logic of `handrail wire descriptor`. */
export { descriptorSet } from "../../wire/descriptor.ts";
