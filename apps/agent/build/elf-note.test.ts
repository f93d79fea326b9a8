import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { chmod, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { addElfNote } from './elf-note.ts';

describe('addElfNote', () => {
  it('leaves a program that runs, with the note in a segment that is mapped', async () => {
    await using folder = await temporaryFolder();
    const content = Buffer.from('what the note says, of no round length');
    const program = addElfNote(await readFile(process.execPath), 'TEST_NOTE', content);
    const path = join(folder.path, 'node');
    await writeFile(path, program);
    await chmod(path, 0o755);
    expect(execFileSync(path, ['-p', '6 * 7'], { encoding: 'utf8' })).toBe('42\n');

    // Checked in the running program, whose memory map shows where its file is loaded.
    const script = `
      const lines = require('node:fs').readFileSync('/proc/self/maps', 'utf8').split('\\n');
      const mapped = lines.filter((line) => line.endsWith(process.execPath)).map((line) => {
        const [range, , offset] = line.split(/\\s+/);
        const [from, to] = range.split('-').map((each) => parseInt(each, 16));
        return { offset: parseInt(offset, 16), length: to - from };
      });
      console.log(JSON.stringify(mapped));`;
    const mapped = JSON.parse(execFileSync(path, ['-e', script], { encoding: 'utf8' })) as {
      offset: number;
      length: number;
    }[];
    const at = program.lastIndexOf(content);
    expect(mapped.some(({ offset, length }) => offset <= at && at + content.length <= offset + length)).toBe(true);
    const name = program.subarray(0, at).lastIndexOf('TEST_NOTE\0');
    expect(program.readUInt32LE(name - 12)).toBe('TEST_NOTE\0'.length);
    expect(program.readUInt32LE(name - 8)).toBe(content.length);
  });

  it('refuses what is no program for 64 bits', () => {
    expect(() => addElfNote(Buffer.from('#!/bin/sh\n'), 'NOTE', Buffer.alloc(1))).toThrow(/no 64-bit/);
    expect(() => addElfNote(Buffer.alloc(4096), 'NOTE', Buffer.alloc(1))).toThrow(/no 64-bit/);
  });
});
