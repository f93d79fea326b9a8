import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseVariables, renderVariables } from './render-variables.ts';

describe('variables for a shell', () => {
  it('preserve every character, and are parsed back', () => {
    const value = `it's "$HOME" \\ \`id\` & ü`;
    const lines = renderVariables({ SVC_TEST_VALUE: value }, 'sh');
    const shown = execFileSync('sh', ['-c', `${lines.join('\n')}\nprintf %s "$SVC_TEST_VALUE"`], { encoding: 'utf8' });
    expect(shown).toBe(value);
    expect(parseVariables(lines.join('\n')).get('SVC_TEST_VALUE')).toBe(value);
  });

  it('are quoted for each shell, and an unknown shell is rejected', () => {
    expect(renderVariables({ A: `b'\\` }, 'fish')).toEqual([String.raw`set -gx A 'b\'\\'`]);
    expect(renderVariables({ A: "b'c" }, 'powershell')).toEqual(["$env:A = 'b''c'"]);
    expect(() => renderVariables({}, 'tcsh')).toThrow('tcsh is not a supported shell');
  });
});
