import { describe, expect, it } from 'vitest';
import { EscapeKeys } from './escape-keys.ts';

function type(keys: EscapeKeys, text: string): [string, string | null] {
  const { bytes, action } = keys.type(Buffer.from(text));
  return [Buffer.from(bytes).toString(), action];
}

describe('the escape keys of a shell', () => {
  it('are heeded at the beginning of a line only', () => {
    expect(type(new EscapeKeys('~'), '~.')).toEqual(['', 'end']);
    expect(type(new EscapeKeys('~'), 'ls ~.ssh\r~d')).toEqual(['ls ~.ssh\r', 'detach']);
    expect(type(new EscapeKeys('~'), 'cd ~\r')).toEqual(['cd ~\r', null]);
  });

  it('are heeded when each key comes by itself', () => {
    const keys = new EscapeKeys('~');
    expect(type(keys, 'a\r')).toEqual(['a\r', null]);
    expect(type(keys, '~')).toEqual(['', null]);
    expect(type(keys, '.')).toEqual(['', 'end']);
  });

  it('give the shell what means nothing here, and one of two escapes', () => {
    expect(type(new EscapeKeys('~'), '~/bin\r')).toEqual(['~/bin\r', null]);
    expect(type(new EscapeKeys('~'), '~~.')).toEqual(['~.', null]);
  });

  it('can be asked for help again and again', () => {
    const keys = new EscapeKeys('~');
    expect(type(keys, '~?')).toEqual(['', 'help']);
    expect(type(keys, '~?')).toEqual(['', 'help']);
  });

  it('are none when none is wanted, and any other character on wish', () => {
    expect(type(new EscapeKeys(null), '~.')).toEqual(['~.', null]);
    expect(type(new EscapeKeys('^'), '^.')).toEqual(['', 'end']);
  });
});
