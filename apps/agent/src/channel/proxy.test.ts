import { describe, expect, it } from 'vitest';
import { bypassesProxy } from './proxy.ts';

describe('hosts that need no proxy', () => {
  it.each([
    ['platform.example', '443', '', false],
    ['platform.example', '443', '*', true],
    ['platform.example', '443', 'other.example, platform.example', true],
    ['platform.example', '443', 'example', true],
    ['platform.example', '443', '.example', true],
    ['platform.example', '443', '*.example', true],
    ['myexample', '443', 'example', false],
    ['platform.example', '443', 'platform.example:8443', false],
    ['platform.example', '8443', 'platform.example:8443', true],
    ['10.0.0.1', '443', '10.0.0.1', true],
    ['PLATFORM.example', '443', 'platform.EXAMPLE', true],
  ])('%s:%s with NO_PROXY=%j: %s', (host, port, list, expected) => {
    expect(bypassesProxy(host, port, list)).toBe(expected);
  });
});
