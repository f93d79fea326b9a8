import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

describe('svc secret', () => {
  let store: CommandStore;
  let svc: CommandLine;
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startCommandStore();
    svc = store.svc;
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await folder.remove();
  });

  it('sets values from standard input and files, lists and deletes', async () => {
    const set = await svc.run(['secret', 'set', 'API_KEY', '--value-stdin'], { input: 'first\n' });
    expect([set.exitCode, set.stdout.toString()]).toEqual([0, 'Secret API_KEY has version 1\n']);
    const file = join(folder.path, 'value');
    await writeFile(file, 'second\n');
    expect(await svc.json(['secret', 'set', 'API_KEY', '--file', file])).toMatchObject({ name: 'API_KEY', version: 2 });
    const listed = await svc.answer(['secret', 'ls']);
    expect(listed).toMatch(/^NAME +VERSION +UPDATED\nAPI_KEY +2 /);
    expect(listed).not.toContain('second');
    await svc.answer(['secret', 'rm', 'API_KEY']);
    expect(await svc.json(['secret', 'ls'])).toEqual([]);
  });

  it('refuses a value as an argument, and says what is wrong', async () => {
    expect((await svc.run(['secret', 'set', 'API_KEY', 'value'])).exitCode).toBe(2);
    const both = await svc.run(['secret', 'set', 'API_KEY', '--value-stdin', '--file', 'x'], { input: 'v' });
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('--value-stdin')]);
    const gone = await svc.run(['secret', 'rm', 'NONE']);
    expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining('Secret NONE not found')]);
    const rule = await svc.run(['sandbox', 'create', 'busybox', '--rule', 'host=a.example,key=b']);
    expect([rule.exitCode, rule.stderr]).toEqual([2, expect.stringContaining('"key=b" is not a valid part of a rule')]);
  });
});
