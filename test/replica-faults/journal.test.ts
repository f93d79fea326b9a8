import { describe, expect, it } from 'vitest';
import { Journal, type KnownSandbox } from './journal.ts';

const CONTENT = { number: 1, sizeBytes: 50 };

function withLines(journal: Journal, lines: KnownSandbox['lines']): KnownSandbox {
  return { ...journal.beginSandbox('boxes-0-1', lines), id: 'sbx_a', existence: 'there' };
}

describe('an object whose write was not answered', () => {
  it('is there or not, and then stays so', () => {
    const journal = new Journal(1);
    journal.beginObject('key', CONTENT);
    expect(journal.judgeObject('key', [null, null])).toEqual([]);
    expect(journal.judgeObject('key', [journal.bytesOf(CONTENT)])).toEqual([
      'object key is there, though no client wrote it',
    ]);
  });

  it('is the same at every replica', () => {
    const journal = new Journal(1);
    journal.beginObject('key', CONTENT);
    expect(journal.judgeObject('key', [journal.bytesOf(CONTENT), null])).toHaveLength(1);
  });

  it('is not what was never written', () => {
    const journal = new Journal(1);
    journal.beginObject('key', CONTENT);
    expect(journal.judgeObject('key', [Buffer.alloc(CONTENT.sizeBytes, 'x')])).toHaveLength(1);
  });
});

describe('a command', () => {
  it('that was not answered ran once or never', () => {
    const journal = new Journal(1);
    const sandbox = withLines(journal, new Map([[7, 'open']]));
    expect(journal.judgeLines(sandbox, '7\n7\n')).toEqual(['command 7 of sandbox boxes-0-1 (sbx_a) ran 2 times']);
    expect(journal.judgeLines(withLines(journal, new Map([[7, 'open']])), '')).toEqual([]);
  });

  it('that was absent from an audit does not run later', () => {
    const journal = new Journal(1);
    const sandbox = withLines(journal, new Map([[7, 'open']]));
    expect(journal.judgeLines(sandbox, '')).toEqual([]);
    expect(journal.judgeLines(sandbox, '7\n')).toEqual(['command 7 of sandbox boxes-0-1 (sbx_a) was refused and ran']);
  });

  it('runs in its own sandbox', () => {
    const journal = new Journal(1);
    expect(journal.judgeLines(withLines(journal, new Map()), '8\n')).toEqual([
      'command 8 of sandbox boxes-0-1 (sbx_a) was sent to another sandbox',
    ]);
  });
});

describe('a sandbox whose creation was not answered', () => {
  it('exists once or not at all', () => {
    const journal = new Journal(1);
    const known = journal.beginSandbox('boxes-0-1');
    const twice = ['sbx_a', 'sbx_b'].map((id) => ({ id, label: 'boxes-0-1' }));
    expect(journal.judgeSandboxes(twice)).toEqual(['sandbox boxes-0-1 (sbx_a) was created 2 times: sbx_a, sbx_b']);
    expect(known).toMatchObject({ id: 'sbx_a', existence: 'there' });
    expect(journal.judgeSandboxes([])).toEqual(['sandbox boxes-0-1 (sbx_a) is lost']);
  });
});
