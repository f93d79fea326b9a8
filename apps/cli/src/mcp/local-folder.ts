import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CommandFailure } from '../client/command-failure.ts';

/** The one folder of this machine that tools may read and write: no path leads out of it, by `..` or by a link. */
export class LocalFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(path: string): Promise<LocalFolder> {
    return new LocalFolder(await realpath(path));
  }

  /** The real path of what is there. */
  async existing(path: string): Promise<string> {
    return this.#assertInside(await realpath(resolve(this.path, path)), path);
  }

  /** Where a file may be made: its folder is there, and is inside. A link in its place is not followed. */
  async target(path: string): Promise<string> {
    const wanted = resolve(this.path, path);
    const folder = this.#assertInside(await realpath(dirname(wanted)), path);
    return join(folder, basename(wanted));
  }

  #assertInside(found: string, given: string): string {
    const way = relative(this.path, found);
    if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return found;
    throw new CommandFailure(`${given} is outside the folder allowed by svc mcp --folder`);
  }
}
