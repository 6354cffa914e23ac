/**
 * Says by kinds of syntax nodes what declares, imports, calls, writes and scopes names.
 *
 * Pure data. Kinds of one language mean nothing in another, so that one table holds them all; the few that differ are
 * told apart by the language.
 */

/** How far the name that a node declares reaches. */
export type Reach =
  /** The scope around the node. */
  | "outer"
  /** The function whose parameter it is, or the whole of a declaration's own. */
  | "inner"
  /** The node itself. */
  | "self"
  | "member";

const outer = (kinds: string, field: string) => declared(kinds, field, "outer");
const inner = (kinds: string, field: string) => declared(kinds, field, "inner");
const member = (kinds: string, field: string) => declared(kinds, field, "member");

/** By the kind of the node: in which of its fields (`*` for any) the declared name stands, and its reach. */
export const DECLARATIONS: Readonly<Record<string, readonly [field: string, reach: Reach]>> = Object.fromEntries([
  // TypeScript and JavaScript
  ...outer("function_declaration generator_function_declaration function_signature", "name"),
  ...outer("class_declaration abstract_class_declaration interface_declaration type_alias_declaration", "name"),
  ...outer("enum_declaration internal_module module variable_declarator", "name"),
  ...declared("function_expression generator_function class", "name", "self"),
  ...member("method_definition method_signature abstract_method_signature", "name"),
  ...member("public_field_definition property_signature enum_assignment", "name"),
  ...member("field_definition", "property"),
  ...member("enum_body", "*"),
  ...inner("required_parameter optional_parameter", "pattern"),
  ...inner("arrow_function catch_clause", "parameter"),
  ...inner("formal_parameters", "*"),
  ...inner("type_parameter", "name"),
  // Python
  ...outer("function_definition class_definition", "name"),
  ...inner("parameters lambda_parameters typed_parameter list_splat_pattern dictionary_splat_pattern", "*"),
  ...inner("default_parameter typed_default_parameter", "name"),
  ...outer("assignment for_statement for_in_clause", "left"),
  ...outer("named_expression", "name"),
  ...outer("as_pattern_target", "*"),
  // Go
  ...outer("type_spec type_alias const_spec var_spec", "name"),
  ...outer("short_var_declaration range_clause", "left"),
  ...inner("parameter_declaration variadic_parameter_declaration", "name declarator"),
  ...member("field_declaration method_elem method_spec", "name"),
  // Rust
  ...outer("function_item function_signature_item struct_item enum_item union_item trait_item", "name"),
  ...outer("type_item mod_item const_item static_item macro_definition associated_type", "name"),
  ...outer("let_declaration let_condition", "pattern"),
  ...inner("parameter for_expression", "pattern"),
  ...inner("closure_parameters", "*"),
  ...inner("match_pattern", "*"),
  ...member("enum_variant", "name"),
  // Java, and what C#, C++, PHP and Ruby share with it
  ...outer("record_declaration annotation_type_declaration struct_declaration", "name"),
  ...outer("class_specifier struct_specifier enum_specifier", "name"),
  ...member("method_declaration constructor_declaration enum_constant method property_declaration", "name"),
  ...inner("formal_parameter catch_formal_parameter enhanced_for_statement resource simple_parameter", "name"),
  ...inner("inferred_parameters method_parameters block_parameters", "*"),
  ...outer("local_variable_declaration", "name"),
  ...outer("init_declarator function_declarator", "declarator"),
  ...inner("parameter", "name"),
]);

function declared(kinds: string, field: string, reach: Reach) {
  return kinds.split(" ").map((kind) => [kind, [field, reach] as const] as const);
}

/** What stands between a declared name and its declaration, with the field that holds no name that is declared. */
export const PATTERNS: Readonly<Record<string, string>> = {
  object_pattern: "",
  array_pattern: "",
  pair_pattern: "key",
  rest_pattern: "",
  assignment_pattern: "right",
  object_assignment_pattern: "right",
  tuple_pattern: "",
  pattern_list: "",
  list_pattern: "",
  expression_list: "",
  tuple_struct_pattern: "type",
  struct_pattern: "type",
  field_pattern: "name",
  reference_pattern: "",
  ref_pattern: "",
  mut_pattern: "",
  slice_pattern: "",
  captured_pattern: "",
  pointer_declarator: "",
};

/** Functions: what they declare is theirs. */
export const FUNCTIONS: ReadonlySet<string> = setOf(
  "function_declaration generator_function_declaration function_expression generator_function arrow_function",
  "method_definition function_signature method_signature abstract_method_signature function_type",
  "function_definition lambda list_comprehension set_comprehension dictionary_comprehension generator_expression",
  "method_declaration func_literal function_item function_signature_item closure_expression",
  "constructor_declaration lambda_expression compact_constructor_declaration method",
);
/** Blocks: they hold what is declared in them, but not Python's. */
export const BLOCKS: ReadonlySet<string> = setOf(
  "statement_block for_in_statement switch_body catch_clause class_static_block",
  "block if_statement for_statement expression_switch_statement type_switch_statement expression_case",
  "communication_case type_case default_case match_arm for_expression if_expression while_expression",
  "enhanced_for_statement try_with_resources_statement constructor_body switch_block_statement_group",
  "type_alias_declaration interface_declaration class_declaration compound_statement",
);
/** Bodies whose declarations are members of a type. */
export const BODIES: ReadonlySet<string> = setOf(
  "class_body interface_body object_type enum_body enum_body_declarations annotation_type_body record_declaration",
  "class_definition impl_item trait_item field_declaration_list declaration_list_of_type",
);
/** What holds a module within a file: names in it are no local ones. */
export const MODULES: ReadonlySet<string> = setOf("internal_module module mod_item namespace_definition");

/** How a member is named: the field of its name, and that of what has it. */
export const MEMBERS: Readonly<Record<string, readonly [name: string, object: string]>> = {
  member_expression: ["property", "object"],
  nested_identifier: ["property", "object"],
  nested_type_identifier: ["name", "module"],
  attribute: ["attribute", "object"],
  selector_expression: ["field", "operand"],
  qualified_type: ["name", "package"],
  field_expression: ["field", "value"],
  scoped_identifier: ["name", "path"],
  scoped_type_identifier: ["name", "path"],
  field_access: ["field", "object"],
  method_invocation: ["name", "object"],
  member_access_expression: ["name", "expression"],
};
/** Where a name is a key: of an object, an argument, a field. */
export const KEYS: Readonly<Record<string, string>> = {
  pair: "key",
  pair_pattern: "key",
  keyword_argument: "name",
  field_initializer: "field",
  field_pattern: "name",
  keyed_element: "key",
};

/** What is called, by the kind of the call. */
export const CALLS: Readonly<Record<string, string>> = {
  call_expression: "function",
  call: "function method",
  function_call: "name",
  new_expression: "constructor",
  method_invocation: "name",
  object_creation_expression: "type",
  macro_invocation: "macro",
  invocation_expression: "function",
  function_call_expression: "function",
  member_call_expression: "name",
};
/** What is written, by the kind of the writing. */
export const WRITES: Readonly<Record<string, string>> = {
  assignment_expression: "left",
  augmented_assignment_expression: "left",
  compound_assignment_expr: "left",
  augmented_assignment: "left",
  assignment: "left",
  assignment_statement: "left",
  update_expression: "argument",
  inc_statement: "*",
  dec_statement: "*",
};
/** What imports. */
export const IMPORTS: ReadonlySet<string> = setOf(
  "import_statement import_from_statement future_import_statement use_declaration import_declaration",
  "import_require_clause using_directive namespace_use_declaration extern_crate_declaration",
);

function setOf(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(" ")));
}
