import { isAppError } from '@svc/errors';
import { modeText, type FileEntry } from '../../domain/files/file-entry.ts';
import { joinPath } from '../../domain/files/file-path.ts';
import type { SandboxFiles } from '../../domain/files/file-service.ts';
import { METADATA_PREFIX, toMetadataView } from './file-metadata.ts';
import { FILE_TYPE, type EntryMessage } from './messages/filesystem.ts';
import { cleanPath } from './paths.ts';

const MAX_NAMES_BYTES = 256 * 1024;
const ROOT = '0';

/** Renders entries of files with the names of their owners, which are those of the sandbox's own `/etc/passwd`. */
export class Entries {
  readonly #files: SandboxFiles;
  #users: Promise<ReadonlyMap<string, string>> | null = null;
  #groups: Promise<ReadonlyMap<string, string>> | null = null;

  constructor(files: SandboxFiles) {
    this.#files = files;
  }

  /** Describes a path as it is now. */
  async of(path: string): Promise<EntryMessage> {
    return this.render(path, await this.#files.stat(path, METADATA_PREFIX));
  }

  async render(path: string, entry: FileEntry): Promise<EntryMessage> {
    const { sizeBytes, mode, modifiedAt, uid, gid, linkTarget, attributes } = entry;
    const milliseconds = Date.parse(`${modifiedAt.slice(0, 19)}Z`);
    const target = linkTarget === null ? null : absolute(path, linkTarget);
    return {
      name: path.slice(path.lastIndexOf('/') + 1),
      type: target === null ? typeOf(entry) : await this.#typeOfTarget(target),
      path,
      size: BigInt(sizeBytes),
      mode: mode & 0o7777,
      permissions: modeText(mode).replace(/^l/, 'L'),
      owner: await this.#userName(uid),
      group: await this.#groupName(gid),
      modifiedTime: { seconds: BigInt(Math.floor(milliseconds / 1000)), nanos: Number(modifiedAt.slice(20, 29)) },
      metadata: toMetadataView(attributes),
      ...(target === null ? {} : { symlinkTarget: target }),
    };
  }

  /** A link has the type of its target; one without a target is a link. */
  async #typeOfTarget(target: string): Promise<number> {
    if (await this.#files.isDirectory(target)) return FILE_TYPE.directory;
    const entry = await this.#files.stat(target).catch(absentIfMissing);
    return entry === null ? FILE_TYPE.symlink : typeOf(entry);
  }

  async #userName(uid: number): Promise<string> {
    if (uid === 0) return 'root';
    return (await (this.#users ??= this.#readNames('/etc/passwd'))).get(String(uid)) ?? String(uid);
  }

  async #groupName(gid: number): Promise<string> {
    if (gid === 0) return 'root';
    return (await (this.#groups ??= this.#readNames('/etc/group'))).get(String(gid)) ?? String(gid);
  }

  /** Names by number; none if the file cannot be read. */
  async #readNames(path: string): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>([[ROOT, 'root']]);
    try {
      await using reading = await this.#files.read(path, { length: MAX_NAMES_BYTES });
      const chunks: Buffer[] = [];
      for await (const chunk of reading.chunks()) chunks.push(Buffer.from(chunk));
      for (const line of Buffer.concat(chunks).toString('utf8').split('\n')) {
        const [name, , number] = line.split(':');
        if (name !== undefined && number !== undefined && !names.has(number)) names.set(number, name);
      }
    } catch (error) {
      absentIfMissing(error); // an image without the file has numbers only
    }
    return names;
  }
}

/** For what a program may remove at any time, or make unreachable. */
export function absentIfMissing(error: unknown): null {
  if (isAppError(error) && error.status < 500 && error.code !== 'SANDBOX_NOT_RUNNING') return null;
  throw error;
}

function typeOf({ type }: FileEntry): number {
  if (type === 'file') return FILE_TYPE.file;
  if (type === 'dir') return FILE_TYPE.directory;
  return type === 'symlink' ? FILE_TYPE.symlink : FILE_TYPE.unspecified;
}

function absolute(path: string, target: string): string {
  if (target.startsWith('/')) return target;
  return cleanPath(joinPath(path.slice(0, path.lastIndexOf('/')) || '/', target));
}
