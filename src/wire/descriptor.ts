/**
 * The contract as data: every file of the services, dependencies first, for tools that speak protobuf without our code.
 */
import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { file_handrail_admin_v1_admin } from "../gen/handrail/admin/v1/admin_pb.ts";
import { file_handrail_ledger_v1_ledger } from "../gen/handrail/ledger/v1/ledger_pb.ts";
import { file_handrail_tool_v1_kernel } from "../gen/handrail/tool/v1/kernel_pb.ts";

/** The bytes of a `google.protobuf.FileDescriptorSet`. */
export function descriptorSet(): Uint8Array {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file.name)) return;
    for (const dependency of file.dependencies) add(dependency);
    files.set(file.name, file);
  };
  for (const file of [file_handrail_tool_v1_kernel, file_handrail_admin_v1_admin, file_handrail_ledger_v1_ledger])
    add(file);
  return toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [...files.values()].map(({ proto }) => proto) }),
  );
}
