import { describe, expect, it } from 'vitest';
import { parseSandboxesSearch } from './sandboxes-search.ts';

describe('sandbox filters in a URL', () => {
  it('keep supported values', () => {
    const search = { status: 'error', label: 'team=a=b', text: 'web', create: true };
    expect(parseSandboxesSearch(search)).toEqual(search);
  });

  it('drop unsupported values', () => {
    expect(parseSandboxesSearch({ status: 'broken', label: 'no value', text: '', create: 'yes' })).toEqual({});
  });

  it('keep a text of digits as text', () => {
    expect(parseSandboxesSearch({ text: 42 })).toEqual({ text: '42' });
  });
});
