import { expect, it } from 'vitest';
import { fillTemplate, parseEgressRule } from './egress-rule.ts';

const given = { host: 'Example.com.', header: 'X-Key', secret: 'KEY' };

it('normalizes a rule', () => {
  expect(parseEgressRule(given)).toEqual({
    host: 'example.com',
    header: 'x-key',
    query: null,
    secret: 'KEY',
    template: '{value}',
    insecure: false,
  });
  expect(fillTemplate('Bearer {value}', '$& {value}')).toBe('Bearer $& {value}');
});

it.each([
  [{ ...given, host: '1.2.3.4' }, 'host'],
  [{ ...given, host: '*' }, 'host'],
  [{ ...given, query: 'key' }, 'header'],
  [{ host: 'a.example', secret: 'KEY' }, 'header'],
  [{ ...given, header: 'Host' }, 'header'],
  [{ ...given, header: 'Transfer-Encoding' }, 'header'],
  [{ ...given, template: 'Bearer' }, 'template'],
  [{ ...given, template: '{value}{value}' }, 'template'],
])('names the field that is wrong: %j', (wrong, field) => {
  expect(parseEgressRule(wrong)).toMatchObject({ field });
});
