import { describe, expect, it } from 'vitest';
import { EscapeKeys } from './escape-keys.ts';

function type(keys: EscapeKeys, text: string): [string, string | null] {
  const { bytes, action } = keys.type(Buffer.from(text));
  return [Buffer.from(bytes).toString(), action];
}

describe('escape keys of a shell', () => {
  it('work at the beginning of a line only', () => {
    expect(type(new EscapeKeys('~'), '~.')).toEqual(['', 'end']);
    expect(type(new EscapeKeys('~'), 'ls ~.ssh\r~d')).toEqual(['ls ~.ssh\r', 'detach']);
    expect(type(new EscapeKeys('~'), 'cd ~\r')).toEqual(['cd ~\r', null]);
  });

  it('work when each key arrives separately', () => {
    const keys = new EscapeKeys('~');
    expect(type(keys, 'a\r')).toEqual(['a\r', null]);
    expect(type(keys, '~')).toEqual(['', null]);
    expect(type(keys, '.')).toEqual(['', 'end']);
  });

  it('pass unknown sequences and one of two escapes to the shell', () => {
    expect(type(new EscapeKeys('~'), '~/bin\r')).toEqual(['~/bin\r', null]);
    expect(type(new EscapeKeys('~'), '~~.')).toEqual(['~.', null]);
  });

  it('show help repeatedly', () => {
    const keys = new EscapeKeys('~');
    expect(type(keys, '~?')).toEqual(['', 'help']);
    expect(type(keys, '~?')).toEqual(['', 'help']);
  });

  it('can be disabled or use another character', () => {
    expect(type(new EscapeKeys(null), '~.')).toEqual(['~.', null]);
    expect(type(new EscapeKeys('^'), '^.')).toEqual(['', 'end']);
  });
});
