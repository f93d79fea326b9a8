import { describe, expect, it } from 'vitest';
import { bypassesProxy } from './proxy.ts';

describe('hosts that bypass the proxy', () => {
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
    ['10.1.2.3', '443', '10.0.0.0/8', true],
    ['11.1.2.3', '443', '10.0.0.0/8,11.0.0.0/33,0/0', false],
    ['10.0.0.1', '443', '0.0.1', false],
    ['10.0.0.1', '443', '10.0.0.1:8443', false],
    ['[::1]', '443', '::1', true],
    ['[::1]', '443', '[::1]:443', true],
    ['[fd00::7]', '443', 'fd00::/8', true],
    ['[fe00::7]', '443', 'fd00::/8', false],
    ['PLATFORM.example', '443', 'platform.EXAMPLE', true],
  ])('%s:%s with NO_PROXY=%j: %s', (host, port, list, expected) => {
    expect(bypassesProxy(host, port, list)).toBe(expected);
  });
});
