import { Type } from 'typebox';
import { workspaceQuery } from './schemas.ts';

/** `queryText` reads it again from the URL and rejects anything but UTF-8. */
const pathText = Type.String({ description: 'Absolute, or relative to the home folder; at most 4096 bytes' });
const nullableText = Type.Union([Type.String(), Type.Null()]);
const flag = (fallback: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: fallback, description }));
export const modeText = Type.Union(
  [Type.String({ pattern: '^0?[0-7]{3,4}$' }), Type.Integer({ minimum: 0, maximum: 4095 })],
  {
    description: 'Octal digits such as "0644", or a number',
  },
);

export const entrySchema = Type.Object({
  name: Type.String(),
  name_b64: Type.Optional(Type.String({ description: 'Bytes of the name in base64, if they are not valid UTF-8' })),
  path: Type.String(),
  size: Type.Integer(),
  mode: Type.String({ description: 'Such as -rw-r--r--' }),
  mode_octal: Type.String(),
  mod_time: Type.String({ format: 'date-time' }),
  is_dir: Type.Boolean(),
  type: Type.Union([Type.Literal('file'), Type.Literal('dir'), Type.Literal('symlink'), Type.Literal('other')]),
  link_target: nullableText,
  uid: Type.Integer(),
  gid: Type.Integer(),
});

export const listFilesQuery = Type.Object({
  ...workspaceQuery,
  path: Type.Optional(pathText),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: '1000 by default' })),
  cursor: Type.Optional(Type.String({ maxLength: 8192 })),
  format: Type.Optional(Type.Union([Type.Literal('object'), Type.Literal('array')])),
});

export const filesSchema = Type.Object({
  path: Type.String(),
  files: Type.Array(entrySchema),
  count: Type.Integer({ description: 'Entries on this page' }),
  total: Type.Integer({ description: 'Entries in the directory' }),
  next_cursor: nullableText,
});

export const pathQuery = Type.Object({ ...workspaceQuery, path: Type.Optional(pathText) });

export const readFileQuery = Type.Object({
  ...workspaceQuery,
  path: pathText,
  format: Type.Optional(Type.Union([Type.Literal('raw'), Type.Literal('json')])),
  archive: Type.Optional(Type.Literal('tar', { description: 'Download a folder with its contents' })),
});

export const writeFileQuery = Type.Object({
  ...workspaceQuery,
  path: Type.Optional(pathText),
  mode: Type.Optional(Type.String({ pattern: '^0?[0-7]{3,4}$' })),
  append: flag(false, 'Append to the file; for raw bodies'),
  create_dirs: flag(true, 'Create missing parent folders'),
});

export const writeFileHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'ETags, or `*` for any; the write fails with 412 unless the file matches one of them' }),
  ),
  'if-none-match': Type.Optional(Type.String({ description: '`*`; the write fails with 412 if the path exists' })),
});

export const writeFileBody = Type.Object(
  {
    path: Type.String({ minLength: 1 }),
    content: Type.String(),
    encoding: Type.Optional(Type.Union([Type.Literal('base64'), Type.Literal('utf-8')])),
    mode: Type.Optional(modeText),
    append: Type.Optional(Type.Boolean()),
    create_dirs: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const writtenSchema = Type.Object({
  path: Type.String(),
  filename: Type.String(),
  size: Type.Integer(),
  mode: Type.String(),
  mod_time: Type.String({ format: 'date-time' }),
  sha256: Type.String({ description: 'SHA-256 of the bytes sent' }),
  etag: Type.String({ description: 'Current ETag of the file, as a read returns it; for use in `If-Match`' }),
  created: Type.Boolean(),
  message: Type.String(),
});

export const mkdirBody = Type.Optional(
  Type.Union([
    Type.Object(
      { path: Type.String({ minLength: 1 }), mode: Type.Optional(modeText), parents: Type.Optional(Type.Boolean()) },
      { additionalProperties: false },
    ),
    Type.Null(),
  ]),
);

export const madeSchema = Type.Object({ path: Type.String(), created: Type.Boolean(), message: Type.String() });

export const deleteFileQuery = Type.Object({
  ...workspaceQuery,
  path: pathText,
  recursive: flag(true, 'Delete directories with their contents; symbolic links are not followed'),
  missing_ok: flag(false, 'Succeed if the path does not exist'),
});

export const deletedSchema = Type.Object({ path: Type.String(), deleted: Type.Boolean(), message: Type.String() });

export const moveBody = Type.Object(
  {
    path: Type.String({ minLength: 1 }),
    target: Type.String({ minLength: 1 }),
    overwrite: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);

export const unpackedSchema = Type.Object({
  path: Type.String(),
  entries: Type.Integer(),
  size_bytes: Type.Integer({ description: 'Total size of the files in the archive' }),
});

export const watchQuery = Type.Object({
  ...workspaceQuery,
  path: pathText,
  recursive: flag(false, 'Include subfolders, at most 8192'),
});
