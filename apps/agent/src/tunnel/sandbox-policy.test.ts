import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { explainSandboxRefusal, sandboxProfile, whyNoSandboxes } from './sandbox-policy.ts';

type Rules = Parameters<typeof explainSandboxRefusal>[1];

const sandboxes: Rules['sandboxes'] = {
  enabled: true,
  namespace: 'boxes',
  helper_image: 'registry.example/svc:1',
  user_namespaces: true,
  nameservers: [],
  denied_networks: [],
  network_policies: 'verify',
};

function rules(changes: { sandboxes?: Partial<Rules['sandboxes']>; policy?: Partial<Rules['policy']> } = {}): Rules {
  return {
    policy: { read_only: false, exec: true, logs: true, namespaces: ['*'], ...changes.policy },
    sandboxes: { ...sandboxes, ...changes.sandboxes },
  };
}

/** The part of a request that a decision needs. */
const verdict = (method: string, url: string, changed = rules()) =>
  explainSandboxRefusal({ method, url, headers: {} } as IncomingMessage, changed);

const PODS = '/api/v1/namespaces/boxes/pods';

describe('the policy for sandboxes', () => {
  it.each([
    ['GET', '/version'],
    ['GET', '/api/v1'],
    ['GET', `${PODS}?watch=true`],
    ['POST', PODS],
    ['DELETE', `${PODS}/one`],
    ['PATCH', `${PODS}/one?fieldManager=svc`],
    ['GET', `${PODS}/one/exec?command=sh`],
    ['PATCH', '/apis/networking.k8s.io/v1/namespaces/boxes/networkpolicies/one'],
    ['GET', '/apis/node.k8s.io/v1/runtimeclasses/gvisor'],
    ['PATCH', '/api/v1/namespaces/boxes/secrets/svc-sandbox-images-0123456789ab?fieldManager=svc'],
  ])('allows %s %s', (method, url) => expect(verdict(method, url)).toBeNull());

  it.each([
    ['GET', '/api/v1/namespaces/shop/pods'],
    ['POST', '/api/v1/namespaces/shop/pods/web/exec'],
    ['GET', '/api/v1/pods'],
    ['GET', '/api/v1/namespaces/boxes/secrets'],
    ['GET', '/api/v1/namespaces/boxes/secrets/svc-sandbox-images-0123456789ab'],
    ['PATCH', '/api/v1/namespaces/boxes/secrets/registry'],
    ['PATCH', '/api/v1/namespaces/shop/secrets/svc-sandbox-images-0123456789ab'],
    ['POST', '/api/v1/namespaces/boxes/secrets'],
    ['GET', '/api/v1/namespaces/boxes/serviceaccounts'],
    ['POST', `${PODS}/one/portforward`],
    ['GET', `${PODS}/one/proxy`],
    ['DELETE', PODS],
    ['PUT', `${PODS}/one`],
    ['DELETE', '/apis/networking.k8s.io/v1/namespaces/boxes/networkpolicies/one'],
    ['POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/boxes/roles'],
    ['GET', '/'],
    ['GET', '/logs'],
  ])('refuses %s %s, whatever rights the agent has', (method, url) => {
    expect(verdict(method, url)).toContain('only the namespace boxes');
  });

  it.each([
    ['GET', '/api/v1/namespaces/boxes/persistentvolumeclaims'],
    ['POST', '/api/v1/namespaces/boxes/persistentvolumeclaims'],
    ['GET', '/api/v1/namespaces/boxes/persistentvolumeclaims/one'],
    ['PATCH', '/api/v1/namespaces/boxes/persistentvolumeclaims/one?fieldManager=svc'],
    ['DELETE', '/api/v1/namespaces/boxes/persistentvolumeclaims/one'],
    ['GET', '/api/v1/namespaces/boxes/events?fieldSelector=x'],
    ['GET', '/apis/storage.k8s.io/v1'],
    ['GET', '/apis/storage.k8s.io/v1/storageclasses/fast'],
  ])('allows %s %s only with a storage class', (method, url) => {
    expect(verdict(method, url)).toContain('only the namespace boxes');
    expect(verdict(method, url, rules({ sandboxes: { storage_class: 'fast' } }))).toBeNull();
  });

  it.each([
    ['GET', '/api/v1/namespaces/shop/persistentvolumeclaims'],
    ['DELETE', '/api/v1/namespaces/boxes/persistentvolumeclaims'],
    ['GET', '/api/v1/persistentvolumes'],
    ['DELETE', '/apis/storage.k8s.io/v1/storageclasses/fast'],
    ['POST', '/api/v1/namespaces/boxes/events'],
  ])('refuses %s %s with a storage class, too', (method, url) => {
    expect(verdict(method, url, rules({ sandboxes: { storage_class: 'fast' } }))).toContain('only the namespace boxes');
  });

  it.each(['/api/v1/namespaces/shop/../boxes/pods', '/api//v1', '/api/v1/namespaces/bo%2fxes/pods', '/api/%'])(
    'refuses a path that two parsers could read differently: %s',
    (url) => expect(verdict('GET', url)).toBe('the path is not in canonical form'),
  );

  it('allows nothing while sandboxes are not enabled, the cluster is read-only, or no image has the helper', () => {
    const refused = [
      [rules({ sandboxes: { enabled: false } }), 'sandboxes.enabled'],
      [rules({ policy: { read_only: true } }), 'read-only'],
      [{ ...rules(), sandboxes: { ...sandboxes, helper_image: undefined } } as unknown as Rules, 'helper_image'],
    ] as const;
    for (const [changed, words] of refused) {
      expect(whyNoSandboxes(changed)).toContain(words);
      expect(verdict('GET', PODS, changed)).toContain(words);
    }
  });

  it('describes where sandboxes run', () => {
    expect(sandboxProfile(rules())).toEqual({
      namespace: 'boxes',
      helper_image: 'registry.example/svc:1',
      pull_secret: null,
      runtime_class: null,
      gvisor_runtime_class: null,
      storage_class: null,
      user_namespaces: true,
      nameservers: [],
      denied_networks: [],
      network_policies: 'verify',
    });
  });
});
