import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectStream, temporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explain, openDataFolder } from './data-folder.ts';

describe('openDataFolder', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('makes the folder for its owner alone', () => {
    const data = openDataFolder(join(folder.path, 'data'));
    expect(statSync(data.path).mode & 0o777).toBe(0o700);
    expect(statSync(data.keysFolder).mode & 0o777).toBe(0o700);
    data.release();
  });

  it('refuses a folder that another process holds and names its pid', async () => {
    const path = join(folder.path, 'data');
    const script = `import { openDataFolder } from ${JSON.stringify(import.meta.resolve('./data-folder.ts'))};
      // Kept, as a platform keeps it: what nothing refers to is collected, and its lock with it.
      globalThis.data = openDataFolder(${JSON.stringify(path)}); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(holder.stdout, 'data');
      expect(() => openDataFolder(path)).toThrow(new RegExp(`in use by another svc process \\(pid ${holder.pid}\\)`));
    } finally {
      holder.kill('SIGKILL');
      await once(holder, 'close');
    }
    openDataFolder(path).release(); // a killed holder leaves no lock behind
  });

  it('can be taken again after a release', () => {
    openDataFolder(folder.path).release();
    openDataFolder(folder.path).release();
  });

  it.skipIf(process.platform !== 'linux')('has the same place each time, and a copy has another one', () => {
    const path = join(folder.path, 'data');
    const first = openDataFolder(path);
    first.release();
    expect(first.place).toEqual(expect.any(String));
    cpSync(path, join(folder.path, 'copy'), { recursive: true });
    const again = openDataFolder(path);
    const copy = openDataFolder(join(folder.path, 'copy'));
    expect(again.place).toBe(first.place);
    expect(copy.place).not.toBe(first.place);
    again.release();
    copy.release();
  });

  it('says which folder cannot be written', () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    expect(() => openDataFolder(join(file, 'data'))).toThrow(/data folder .*file\/data is not writable \(ENOTDIR\)/);
  });

  it('refuses a file system that takes no folders instead of trying for ever', () => {
    expect(() => openDataFolder('/proc/none/data')).toThrow(/is not writable \(ENOENT\)/);
  });

  it('says that a folder is read-only', async () => {
    chmodSync(folder.path, 0o555);
    const script = `import { openDataFolder } from ${JSON.stringify(import.meta.resolve('./data-folder.ts'))};
      try { openDataFolder(${JSON.stringify(folder.path)}); } catch (error) { console.log(error.message); }`;
    // Root may write anywhere, so as root run the check as the user nobody.
    const asNobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      ...asNobody,
    });
    expect((await collectStream(child.stdout, 4096)).toString()).toMatch(/is not writable \(EACCES\)/);
  });
});

describe('explain', () => {
  it.each([
    [{ errcode: 11 }, 'DATABASE_DAMAGED'],
    [{ errcode: 26 }, 'DATABASE_DAMAGED'],
    [{ errcode: 13 }, 'DISK_FULL'],
    [{ code: 'DATABASE_FULL' }, 'DISK_FULL'],
    [{ code: 'DATABASE_DAMAGED' }, 'DATABASE_DAMAGED'],
    [{ code: 'ENOSPC' }, 'DISK_FULL'],
    [{}, 'DATA_FOLDER_NOT_WRITABLE'],
  ])('recognizes an error by its code, whatever its message: %j', (codes, code) => {
    const cause = Object.assign(new Error('file is not a database, and database or disk is full'), codes);
    expect(explain('/data', cause)).toMatchObject({ code, cause });
  });
});
