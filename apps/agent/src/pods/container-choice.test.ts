import type { KubeObject } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { chooseContainer } from './container-choice.ts';

function pod(containers: string[], annotations: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', annotations },
    spec: { containers: containers.map((name) => ({ name })), initContainers: [{ name: 'setup' }] },
  };
}

describe('the container of a command', () => {
  it('is the named one, including an init container', () => {
    expect(chooseContainer(pod(['a', 'b']), 'b')).toBe('b');
    expect(chooseContainer(pod(['a', 'b']), 'setup')).toBe('setup');
  });

  it("is the annotation's default, else the only one", () => {
    expect(chooseContainer(pod(['a', 'b'], { 'kubectl.kubernetes.io/default-container': 'b' }), '')).toBe('b');
    expect(chooseContainer(pod(['a']), undefined)).toBe('a');
  });

  it.each([
    ['', 'has several containers; its containers are a, b'],
    ['c', 'has no container c; its containers are a, b, setup'],
  ])('is refused with the available names if ambiguous or unknown: %j', (wanted, words) => {
    expect(() => chooseContainer(pod(['a', 'b']), wanted)).toThrow(words);
  });

  it('ignores an annotation that names no container', () => {
    expect(() => chooseContainer(pod(['a', 'b'], { 'kubectl.kubernetes.io/default-container': 'x' }), '')).toThrow(
      'has several containers',
    );
  });
});
