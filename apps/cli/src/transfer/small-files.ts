import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { CommandFailure } from '../client/command-failure.ts';

/*
 * Small files are read and written without the thread pool: each call that is handed to it costs more than the call, and
 * five of them for each file took 40 % of the time in which a thousand files of 4 KiB came from a store on the same machine.
 */

/** The whole file, or null when it is larger than that. */
export function readSmallFile(path: string, mostBytes: number): Buffer | null {
  // A pipe by this name would otherwise be waited for.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const before = fstatSync(file, { bigint: true });
    if (!before.isFile()) throw new CommandFailure(`${path} is not a regular file`);
    if (before.size > BigInt(mostBytes)) return null;
    const bytes = readFileSync(file);
    const after = fstatSync(file, { bigint: true });
    if (after.mtimeNs !== before.mtimeNs || after.size !== BigInt(bytes.length)) throw changedWhileRead(path);
    return bytes;
  } finally {
    closeSync(file);
  }
}

/** Replaces the file in one step, by way of one of the name `unfinished` in the same folder. */
export function writeSmallFile(path: string, unfinished: string, bytes: Uint8Array, modifiedAt: Date): void {
  const file = openSync(unfinished, 'wx');
  try {
    try {
      writeFileSync(file, bytes);
      futimesSync(file, modifiedAt, modifiedAt);
    } finally {
      closeSync(file);
    }
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

export function changedWhileRead(path: string): CommandFailure {
  return new CommandFailure(`${path} changed while it was read`, {
    hint: 'the stored object may be inconsistent; upload it again',
  });
}
