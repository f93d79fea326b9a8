import { describe, expect, it } from 'vitest';
import { parseSandboxesSearch } from './sandboxes-search.ts';

describe('the filters of sandboxes in a URL', () => {
  it('keep what the platform understands', () => {
    const search = { status: 'error', label: 'team=a=b', text: 'web', create: true };
    expect(parseSandboxesSearch(search)).toEqual(search);
  });

  it('drop what it does not', () => {
    expect(parseSandboxesSearch({ status: 'broken', label: 'no value', text: '', create: 'yes' })).toEqual({});
  });

  it('take a text of digits as a text', () => {
    expect(parseSandboxesSearch({ text: 42 })).toEqual({ text: '42' });
  });
});
