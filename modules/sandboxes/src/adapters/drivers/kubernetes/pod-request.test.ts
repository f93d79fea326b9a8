import { fieldAt } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../local/oci-config.ts';
import { seccompProfile } from '../local/seccomp-profile.ts';
import { podName } from './names.ts';
import { probePod, sandboxPod, type SandboxPodOptions } from './pod-request.ts';
import type { SandboxSpec } from '../../../domain/driver.ts';

const SPEC: SandboxSpec = {
  id: 'sbx_abc',
  hostname: 'calm-otter',
  image: 'debian',
  resources: { cpuMillis: 1500, memoryMb: 512, diskMb: 2048, pids: 512 },
  network: 'egress',
  isolation: 'namespaces',
};
const OPTIONS: SandboxPodOptions = {
  owner: '0123456789ab',
  namespace: 'sandboxes',
  image: 'docker.io/library/debian:13',
  helperImage: 'registry.example/svc-sandbox-agent:1',
  pullSecret: null,
  imageSecret: null,
  runtimeClass: null,
  userNamespace: false,
  nameservers: ['9.9.9.9'],
  gpuResource: null,
  state: 'stopped',
  diskFolders: null,
};

describe('the pod of a sandbox', () => {
  const pod = sandboxPod(SPEC, OPTIONS);
  const container = fieldAt(pod, 'spec', 'containers', 0);

  it('has a legal name that differs between owners and ids', () => {
    const names = [
      podName('a', 'sbx_x'),
      podName('b', 'sbx_x'),
      podName('a', 'sbx-x'), // the same without characters that are not legal
      podName('a', 'SBX_x'),
    ];
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  });

  it.each(['', '..', '../sbx_x', 'sbx x', 'a'.repeat(65)])('has no name for the id %j', (id) => {
    expect(() => podName('a', id)).toThrow(expect.objectContaining({ code: 'RUNTIME_FAILED' }));
  });

  it('runs the helper as PID 1 from a read-only volume that an init container fills', () => {
    expect(fieldAt(pod, 'spec', 'initContainers', 0, 'command')).toEqual([
      '/.sandbox/agent',
      'install',
      '/install/agent',
      expect.any(String),
    ]);
    expect(fieldAt(container, 'command')).toEqual(['/.sandbox/agent', 'init', '--limited']);
    expect(fieldAt(container, 'volumeMounts', 0)).toEqual({ name: 'helper', mountPath: '/.sandbox', readOnly: true });
  });

  it('has no account, no services of the cluster and no second start', () => {
    expect(pod['spec']).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      hostname: 'calm-otter',
    });
  });

  it('mounts the folders of its disk over those of the image, after an init container has filled them', () => {
    const made = sandboxPod(SPEC, { ...OPTIONS, diskFolders: ['etc', 'usr'] });
    const filler = fieldAt(made, 'spec', 'initContainers', 1);
    expect(filler).toMatchObject({
      name: 'disk',
      image: OPTIONS.image,
      command: ['/.sandbox/agent', 'fill', '/.sandbox-disk', OPTIONS.image, 'etc', 'usr'],
      securityContext: { privileged: false, allowPrivilegeEscalation: false },
      volumeMounts: [
        { name: 'helper', mountPath: '/.sandbox', readOnly: true },
        { name: 'disk', mountPath: '/.sandbox-disk' },
      ],
    });
    expect(fieldAt(filler, 'securityContext', 'capabilities', 'add')).toEqual([
      'CHOWN',
      'DAC_OVERRIDE',
      'FOWNER',
      'FSETID',
      'SETFCAP',
    ]);
    expect(fieldAt(made, 'spec', 'containers', 0)).toMatchObject({
      command: ['/.sandbox/agent', 'init', '--limited', 'etc', 'usr'],
      volumeMounts: [
        { name: 'helper' },
        { name: 'shared-memory' },
        { name: 'disk', mountPath: '/etc', subPath: 'files/etc' },
        { name: 'disk', mountPath: '/usr', subPath: 'files/usr' },
      ],
    });
    expect(fieldAt(made, 'spec', 'volumes', 2)).toEqual({
      name: 'disk',
      persistentVolumeClaim: { claimName: made.metadata.name },
    });
    for (const each of ['initContainers', 'volumes'])
      expect(JSON.stringify(fieldAt(pod, 'spec', each))).not.toContain('disk"');
  });

  it('stays, with its files, when its node is away for a while', () => {
    expect(fieldAt(pod, 'spec', 'tolerations')).toEqual([
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
    ]);
  });

  it('has the limits of the sandbox', () => {
    expect(fieldAt(container, 'resources', 'limits')).toEqual({
      cpu: '1500m',
      memory: '512Mi',
      'ephemeral-storage': '2048Mi',
    });
    expect(fieldAt(container, 'resources', 'requests')).toMatchObject({ cpu: '150m', memory: '512Mi' });
  });

  it('has its helper apply the local driver’s limits, for the architecture of any node', () => {
    const limits = JSON.parse(String(fieldAt(pod, 'spec', 'initContainers', 0, 'command', 3)));
    expect(limits.capabilities).toEqual(CAPABILITIES);
    expect(limits.seccomp).toMatchObject({ architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'] });
    expect(limits.seccomp.syscalls).toEqual(seccompProfile('x64')['syscalls']);
  });

  it('gives the runtime one capability that its programs never have, and none beyond those of the local driver', () => {
    expect(fieldAt(container, 'securityContext')).toEqual({
      privileged: false,
      allowPrivilegeEscalation: false,
      capabilities: {
        drop: ['ALL'],
        add: [
          'AUDIT_WRITE',
          'CHOWN',
          'DAC_OVERRIDE',
          'FOWNER',
          'FSETID',
          'KILL',
          'NET_BIND_SERVICE',
          'SETFCAP',
          'SETGID',
          'SETPCAP',
          'SETUID',
          'SYS_CHROOT',
          'MKNOD',
        ],
      },
    });
    expect(fieldAt(pod, 'spec', 'securityContext', 'seccompProfile')).toEqual({ type: 'RuntimeDefault' });
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace']) {
      expect(fieldAt(pod, 'spec', field)).toBeUndefined();
    }
  });

  it('has GPUs only if the sandbox has, under the name of the cluster', () => {
    const environmentOf = (gpus: number) => {
      const resources = { ...SPEC.resources, gpus };
      const made = sandboxPod({ ...SPEC, resources }, { ...OPTIONS, gpuResource: 'nvidia.com/gpu' });
      return fieldAt(made, 'spec', 'containers', 0, 'env');
    };
    const limits = (gpus: number) => {
      const resources = { ...SPEC.resources, gpus };
      const made = sandboxPod({ ...SPEC, resources }, { ...OPTIONS, gpuResource: 'nvidia.com/gpu' });
      return fieldAt(made, 'spec', 'containers', 0, 'resources', 'limits');
    };
    expect(limits(2)).toMatchObject({ 'nvidia.com/gpu': 2 });
    expect(limits(0)).not.toHaveProperty(['nvidia.com/gpu']);
    // Images may ask for all GPUs of their node.
    expect(environmentOf(0)).toEqual([{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }]);
    expect(environmentOf(2)).toBeUndefined();
  });

  it('never asks the cluster’s own resolver', () => {
    expect(pod['spec']).toMatchObject({ dnsPolicy: 'None', dnsConfig: { nameservers: ['9.9.9.9'] } });
    const none = sandboxPod({ ...SPEC, network: 'none' }, OPTIONS);
    expect(none['spec']).toMatchObject({ dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'] } });
  });

  it('has a user namespace, runtime class and pull secret only if they are given', () => {
    for (const field of ['hostUsers', 'runtimeClassName', 'imagePullSecrets']) {
      expect(fieldAt(pod, 'spec', field)).toBeUndefined();
    }
    const given = sandboxPod(SPEC, { ...OPTIONS, userNamespace: true, runtimeClass: 'gvisor', pullSecret: 'pull' });
    expect(given['spec']).toMatchObject({
      hostUsers: false,
      runtimeClassName: 'gvisor',
      imagePullSecrets: [{ name: 'pull' }],
    });
  });

  it('is selected by the policies like a sandbox without a network when it only probes them', () => {
    expect(fieldAt(probePod('isolated', OPTIONS, 20), 'metadata', 'labels')).toEqual({
      'svc.dev/sandbox-owner': '0123456789ab',
      'svc.dev/sandbox-network': 'none',
    });
    expect(fieldAt(probePod('open', OPTIONS, 20), 'metadata', 'labels')).toEqual({
      'svc.dev/sandbox-owner': '0123456789ab',
    });
  });

  it('must be kept from the kubelet of its node too', () => {
    expect(fieldAt(probePod('isolated', OPTIONS, 20), 'spec', 'containers', 0, 'command')).toEqual([
      '/.sandbox/agent',
      'probe',
      'blocked',
      '20',
      '$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)',
      '$(NODE_ADDRESS):10250',
    ]);
  });
});
