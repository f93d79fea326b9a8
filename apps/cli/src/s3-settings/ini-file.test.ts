import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readIniSection, setIniSection } from './ini-file.ts';

describe('a section of a settings file', () => {
  it('is appended, or replaced in place', () => {
    const first = setIniSection('', 'svc', [['a', '1']]);
    expect(first).toBe('[svc]\na = 1\n');
    const own = '# mine\n[default]\nregion=eu\n\n';
    const second = setIniSection(own, 'svc', [['s3', [['style', 'path']]]]);
    expect(second).toBe(`${own}[svc]\ns3 =\n    style = path\n`);
    const third = `${second}\n[other]\nx = y\n`;
    expect(setIniSection(third, 'svc', [['s3', [['style', 'auto']]]])).toBe(third.replace('path', 'auto'));
  });

  it('keeps foreign settings and comments', () => {
    const text = '[svc]\n# why\nown = kept\ns3 =\n    old = gone\n    older = gone\nb = 2\n';
    expect(setIniSection(text, 'svc', [['s3', 'new']])).toBe('[svc]\ns3 = new\n# why\nown = kept\nb = 2\n');
  });

  it('is read back, and nothing else', () => {
    const text = '[a]\nx = 1\n[profile svc]\nx=2 = 3\ny =\n    z = 4\n';
    expect([...(readIniSection(text, 'profile svc') ?? [])]).toEqual([
      ['x', '2 = 3'],
      ['y', ''],
    ]);
    expect(readIniSection(text, 'svc')).toBeNull();
  });

  it('rejects values that contain line breaks', () => {
    expect(() => setIniSection('', 'svc', [['a', 'b\n[default]']])).toThrow('cannot be written to a settings file');
  });

  it('is the same after a second write, whatever the file contained', () => {
    const lines = fc.array(fc.constantFrom('[svc]', '[x]', 'a = 1', '  b = 2', '', '# c', 'key = v'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(lines, (before) => {
        const entries = [['key', 'value']] as const;
        const once = setIniSection(before.join('\n'), 'svc', entries);
        expect(setIniSection(once, 'svc', entries)).toBe(once);
        expect(readIniSection(once, 'svc')?.get('key')).toBe('value');
      }),
    );
  });
});
