import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CommandFailure } from '../client/command-failure.ts';

/** The only local folder that tools may access. Paths cannot escape it, by `..` or by a symbolic link. */
export class LocalFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(path: string): Promise<LocalFolder> {
    return new LocalFolder(await realpath(path));
  }

  /** Returns the real path of an existing file. */
  async existing(path: string): Promise<string> {
    return this.#assertInside(await realpath(resolve(this.path, path)), path);
  }

  /** Returns a path for a new file: its folder exists and is inside. Never follows a link in its place. */
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
