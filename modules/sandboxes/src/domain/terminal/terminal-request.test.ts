import { expect, it } from 'vitest';
import { parseTerminalRequest } from './terminal-request.ts';

const parse = (query: string) => parseTerminalRequest(new URL(`http://localhost/ws/terminal/sbx_a?${query}`));

it('reads the user of a command', () => {
  expect(parse('cmd=WyJpZCJd&user=web').user).toBe('web');
  expect(parse('cmd=WyJpZCJd&user=1000').user).toBe('1000');
  for (const query of ['cmd=WyJpZCJd', 'cmd=WyJpZCJd&user=root', 'cmd=WyJpZCJd&user=0', 'cols=80']) {
    expect(parse(query).user).toBeNull();
  }
});

it.each([
  ['user=web', 'user', 'requires a command (cmd)'],
  [`cmd=WyJpZCJd&user=${'u'.repeat(65)}`, 'user', 'has more than 64 characters'],
  ['cmd=WyJpZCJd&session=a', 'session', 'is for shells, not for a command'],
  ['resumes=0123456789abcdef', 'resumes', 'needs a session'],
  ['session=a&connection=short', 'connection', 'has 16 to 64 letters, digits, _ and -'],
])('refuses %s', (query, field, reason) => {
  expect(() => parse(query)).toThrow(expect.objectContaining({ code: 'INVALID_FIELD', details: { field, reason } }));
});
