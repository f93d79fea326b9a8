import { entityTag, modeOctal, modeText, modifiedMs, type FileEntry } from '../domain/files/file-entry.ts';
import { joinPath } from '../domain/files/file-path.ts';
import type { WrittenFile } from '../domain/files/file-writing.ts';

/** Renders an entry in the format that existing clients decode. */
export function toEntryView(folder: string, entry: FileEntry) {
  return {
    name: entry.name,
    ...(entry.nameBase64 === null ? {} : { name_b64: entry.nameBase64 }),
    path: joinPath(folder, entry.name),
    size: entry.sizeBytes,
    mode: modeText(entry.mode),
    mode_octal: modeOctal(entry.mode),
    mod_time: modifiedMs(entry),
    is_dir: entry.type === 'dir',
    type: entry.type,
    link_target: entry.linkTarget,
    uid: entry.uid,
    gid: entry.gid,
  };
}

export function toWrittenView(path: string, { entry, sha256, created }: WrittenFile) {
  return {
    path,
    filename: entry.name,
    size: entry.sizeBytes,
    mode: modeText(entry.mode),
    mod_time: modifiedMs(entry),
    sha256,
    etag: entityTag(entry),
    created,
    message: created ? 'The file was made' : 'The file was replaced',
  };
}

/** Headers of a file response, GET or HEAD. */
export function fileHeaders(entry: FileEntry): Record<string, string> {
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(entry.name).replaceAll("'", '%27')}`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'accept-ranges': 'bytes',
    etag: entityTag(entry),
    'last-modified': new Date(modifiedMs(entry)).toUTCString(),
    'x-file-size': String(entry.sizeBytes),
    'x-file-mode': modeText(entry.mode),
  };
}

/** Parses a mode the schema accepted: octal digits, or the number itself. */
export function parseMode(mode: string | number | undefined): number | undefined {
  return typeof mode === 'string' ? Number.parseInt(mode, 8) : mode;
}
