import { describe, expect, it } from 'vitest';
import { parseUserName } from './ssh-login.ts';

const ID = `sbx_${'a'.repeat(26)}`;
const TEAM = '0b4e3a52-8f0c-4f7b-9a55-5d2c8f2b9f10';

describe('the user name of an SSH connection', () => {
  it.each([
    [ID, { sandbox: { id: ID }, teamUuid: undefined }],
    ['web-1', { sandbox: { name: 'web-1' }, teamUuid: undefined }],
    [`${ID}+${TEAM}`, { sandbox: { id: ID }, teamUuid: TEAM }],
    // An ID that is not one may still be a name.
    ['sbx_1', { sandbox: { name: 'sbx_1' }, teamUuid: undefined }],
  ])('%s names a sandbox', (text, parsed) => {
    expect(parseUserName(text)).toEqual(parsed);
  });

  it.each(['', '-x', 'a b', 'a/b', 'a\0', 'web+team', `web+${TEAM}+`, '+', 'x'.repeat(65)])('%j names none', (text) => {
    expect(parseUserName(text)).toBeNull();
  });
});
