import { describe, expect, it } from 'vitest';
import { findCommand, requirement, type RequirementName } from './requirement.ts';

/** Defined outside the call: the runner would try to install it. */
const ABSENT: RequirementName = 'command:no-such-program';

describe('requirement', () => {
  it('is null when everything is there', () => {
    expect(requirement('command:sh')).toBeNull();
  });

  it('names what is missing and the package that brings it', () => {
    expect(requirement('command:sh', ABSENT)).toBe(
      'needs the command no-such-program; install it with: apt-get install -y no-such-program',
    );
  });

  it('names a variable that is not set', () => {
    expect(requirement('environment:SVC_TEST_ABSENT')).toBe('SVC_TEST_ABSENT is not set');
  });
});

describe('findCommand', () => {
  it('looks along the given path and finds programs only', () => {
    expect(findCommand('sh', '/bin')).toBe('/bin/sh');
    expect(findCommand('passwd', '/etc')).not.toBe('/etc/passwd');
  });
});
