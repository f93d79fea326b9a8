import { create, createFileRegistry, type DescFile, type DescService, type FileRegistry } from '@bufbuild/protobuf';
import {
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
} from '@bufbuild/protobuf/wkt';

/** `[number, type]`, or with `repeated`, `optional` or `map`, whose keys are strings. */
export type FieldSpec = readonly [number: number, type: string, kind?: 'repeated' | 'optional' | 'map'];

export interface OneofSpec {
  readonly oneof: Readonly<Record<string, FieldSpec>>;
}

export type MessageSpec = Readonly<Record<string, FieldSpec | OneofSpec>>;

export interface MethodSpec {
  readonly input: string;
  readonly output: string;
  readonly streams?: 'input' | 'output';
}

export interface FileSpec {
  readonly package: string;
  /** Descriptions of files whose messages are used, by name. */
  readonly imports?: Readonly<Record<string, DescFile>>;
  readonly enums?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly messages: Readonly<Record<string, MessageSpec>>;
  readonly service: string;
  readonly methods: Readonly<Record<string, MethodSpec>>;
}

const SCALARS: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  bool: FieldDescriptorProto_Type.BOOL,
  uint32: FieldDescriptorProto_Type.UINT32,
  sint32: FieldDescriptorProto_Type.SINT32,
  int64: FieldDescriptorProto_Type.INT64,
};

/** Builds the descriptors of messages and of the service that uses them, as a protobuf compiler would. */
export function describeService(spec: FileSpec): DescService {
  const imports = spec.imports ?? {};
  const proto = create(FileDescriptorProtoSchema, {
    name: `${spec.package}.proto`,
    package: spec.package,
    syntax: 'proto3',
    dependency: Object.keys(imports),
    enumType: Object.entries(spec.enums ?? {}).map(([name, values]) =>
      create(EnumDescriptorProtoSchema, {
        name,
        value: Object.entries(values).map(([value, number]) => ({ name: value, number })),
      }),
    ),
    messageType: Object.entries(spec.messages).map(([name, message]) => describeMessage(spec, name, message)),
    service: [
      {
        name: spec.service,
        method: Object.entries(spec.methods).map(([name, { input, output, streams }]) => ({
          name,
          inputType: typeName(spec, input),
          outputType: typeName(spec, output),
          clientStreaming: streams === 'input',
          serverStreaming: streams === 'output',
        })),
      },
    ],
  });
  const registry: FileRegistry = createFileRegistry(proto, (name) => imports[name]);
  const service = registry.getService(`${spec.package}.${spec.service}`);
  if (service === undefined) throw new Error(`the description of ${spec.package} has no service`);
  return service;
}

function describeMessage(spec: FileSpec, name: string, message: MessageSpec): DescriptorProto {
  const fields: FieldDescriptorProto[] = [];
  const nested: DescriptorProto[] = [];
  const oneofs: { name: string }[] = [];
  const synthetic: FieldDescriptorProto[] = [];
  for (const [fieldName, given] of Object.entries(message)) {
    if ('oneof' in given) {
      for (const [member, field] of Object.entries(given.oneof)) {
        fields.push(describeField(spec, member, field, { oneofIndex: oneofs.length }));
      }
      oneofs.push({ name: fieldName });
    } else if (given[2] === 'map') {
      const entry = `${camelCase(`_${fieldName}`)}Entry`;
      nested.push(describeEntry(spec, entry, given));
      const type = `.${spec.package}.${name}.${entry}`;
      fields.push(describeField(spec, fieldName, [given[0], type, 'repeated']));
    } else {
      const field = describeField(spec, fieldName, given);
      fields.push(field);
      if (given[2] === 'optional') synthetic.push(field);
    }
  }
  // Each optional field is the only member of a oneof, and these come after the others.
  for (const field of synthetic) {
    field.oneofIndex = oneofs.length;
    oneofs.push({ name: `_${field.name}` });
  }
  return create(DescriptorProtoSchema, { name, field: fields, nestedType: nested, oneofDecl: oneofs });
}

function describeField(
  spec: FileSpec,
  name: string,
  [number, type, kind]: FieldSpec,
  oneof: { oneofIndex?: number } = {},
): FieldDescriptorProto {
  const scalar = SCALARS[type];
  const isEnum = Object.hasOwn(spec.enums ?? {}, type);
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    jsonName: camelCase(name),
    label: kind === 'repeated' ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
    type: scalar ?? (isEnum ? FieldDescriptorProto_Type.ENUM : FieldDescriptorProto_Type.MESSAGE),
    ...(scalar === undefined ? { typeName: typeName(spec, type) } : {}),
    ...(kind === 'optional' ? { proto3Optional: true } : {}),
    ...oneof,
  });
}

function describeEntry(spec: FileSpec, name: string, [, type]: FieldSpec): DescriptorProto {
  const field = [describeField(spec, 'key', [1, 'string']), describeField(spec, 'value', [2, type])];
  return create(DescriptorProtoSchema, { name, field, options: { mapEntry: true } });
}

/** A name that starts with a dot is complete. */
function typeName(spec: FileSpec, name: string): string {
  return name.startsWith('.') ? name : `.${spec.package}.${name}`;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
