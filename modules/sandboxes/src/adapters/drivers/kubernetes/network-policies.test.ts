import { BlockList } from 'node:net';
import { fieldAt } from '@svc/kube';
import { recordsAt } from '@svc/kube/values';
import { describe, expect, it } from 'vitest';
import { networkPolicies } from './network-policies.ts';

const OPTIONS = {
  owner: '0123456789ab',
  namespace: 'sandboxes',
  nameservers: ['10.0.0.53'],
  deniedNetworks: ['1.2.3.0/24'],
};

describe('the network policies of sandboxes', () => {
  const [isolation, egress] = networkPolicies(OPTIONS);

  it('let nothing in and nothing out of any sandbox of the owner', () => {
    expect(isolation?.['spec']).toEqual({
      podSelector: {
        matchLabels: { 'svc.dev/sandbox-owner': '0123456789ab' },
        matchExpressions: [{ key: 'svc.dev/sandbox-network', operator: 'Exists' }],
      },
      policyTypes: ['Ingress', 'Egress'],
    });
  });

  it('let sandboxes with egress out only, and no other', () => {
    expect(egress?.['spec']).toMatchObject({
      podSelector: { matchLabels: { 'svc.dev/sandbox-owner': '0123456789ab', 'svc.dev/sandbox-network': 'egress' } },
      policyTypes: ['Egress'],
    });
  });

  it.each([
    ['8.8.8.8', true],
    ['1.2.4.1', true],
    ['1.2.3.4', false],
    ['10.96.0.1', false],
    ['10.0.0.53', false],
    ['100.64.0.1', false],
    ['127.0.0.1', false],
    ['169.254.169.254', false],
    ['172.31.0.1', false],
    ['192.168.1.1', false],
    ['224.0.0.1', false],
  ])('reach %s on every port: %s', (address, reached) => {
    const [block] = recordsAt(egress, 'spec', 'egress');
    const [{ ipBlock } = { ipBlock: {} }] = recordsAt(block, 'to');
    expect(fieldAt(ipBlock, 'cidr')).toBe('0.0.0.0/0');
    expect(block?.['ports']).toBeUndefined();
    const except = fieldAt(ipBlock, 'except');
    const refused = new BlockList();
    for (const network of Array.isArray(except) ? except.map(String) : []) {
      const [start = '', bits = ''] = network.split('/');
      refused.addSubnet(start, Number(bits));
    }
    expect(!refused.check(address)).toBe(reached);
  });

  it('let a resolver in a blocked network be asked, on its port alone', () => {
    const [, resolvers] = recordsAt(egress, 'spec', 'egress');
    expect(resolvers).toEqual({
      to: [{ ipBlock: { cidr: '10.0.0.53/32' } }],
      ports: [
        { protocol: 'UDP', port: 53 },
        { protocol: 'TCP', port: 53 },
      ],
    });
  });
});
