import type { KubeObject } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { isRunning, isUp, toPodView } from './pod-view.ts';

function pod(status: unknown, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', uid: 'u1', resourceVersion: '5', ...metadata },
    status,
  };
}
const main = (state: unknown): unknown => ({ phase: 'Running', containerStatuses: [{ name: 'sandbox', state }] });
const waiting = (reason: string, message?: string): unknown => ({
  phase: 'Pending',
  containerStatuses: [{ name: 'sandbox', state: { waiting: { reason, message } } }],
});

describe('toPodView', () => {
  it('is up while its container runs, and started if its annotation says so', () => {
    const running = main({ running: { startedAt: 'now' } });
    expect(toPodView(pod(running))).toMatchObject({ up: true, started: false, failure: null });
    const annotations = { 'svc.dev/sandbox-state': 'running' };
    expect(toPodView(pod(running, { annotations }))).toMatchObject({ up: true, started: true });
    expect(toPodView(pod(running, { deletionTimestamp: 'now' }))).toMatchObject({ deleting: true });
  });

  it.each([
    ['filling', false, false, false],
    ['stopped', true, false, false],
    ['running', true, true, false],
    ['paused', true, true, true],
  ])('of a pod that is %s', (state, up, running, paused) => {
    const view = toPodView(pod(main({ running: {} }), { annotations: { 'svc.dev/sandbox-state': state } }));
    expect([isUp(view), isRunning(view), view.paused]).toEqual([up, running, paused]);
  });

  it.each([
    ['ErrImagePull', null],
    ['ContainerCreating', null],
    ['ImagePullBackOff', { kind: 'image', reason: 'ImagePullBackOff: not found' }],
    ['CreateContainerError', { kind: 'pod', reason: 'CreateContainerError: not found' }],
  ])('may come up while it waits for %s, unless that is final', (reason, failure) => {
    expect(toPodView(pod(waiting(reason, 'not found')))).toMatchObject({
      up: false,
      failure,
      pending: { reason: `${reason}: not found` },
    });
  });

  it.each([
    ['["bin","etc"]', 3, ['bin', 'etc']],
    ['["bin","etc"]', 1, null],
    ['["../etc"]', 3, null],
    ['["a b"]', 3, null],
    ['{"etc":1}', 3, null],
    ['["etc"', 3, null],
    [JSON.stringify(Array.from({ length: 51 }, (_each, index) => `f${index}`)), 3, null],
  ])('reads the report %j of a disk that ended with %i', (message, exitCode, otherFolders) => {
    const ended = { name: 'disk', state: { terminated: { exitCode, message } } };
    const view = toPodView(pod({ phase: 'Failed', initContainerStatuses: [ended] }));
    expect(view).toMatchObject({ otherFolders, hasDisk: false });
  });

  it('says in the words of the helper why a disk could not be filled', () => {
    const state = { terminated: { exitCode: 1, reason: 'Error', message: 'sandbox-agent: they do not fit\n' } };
    const failed = { ...pod({ phase: 'Failed', initContainerStatuses: [{ name: 'disk', state }] }) };
    const view = toPodView({ ...failed, spec: { volumes: [{ name: 'disk' }] } });
    expect(view).toMatchObject({
      hasDisk: true,
      failure: {
        kind: 'pod',
        reason: 'its pod ended: container disk ended with Error, exit code 1: sandbox-agent: they do not fit',
      },
    });
  });

  it('reports that the container ran out of memory', () => {
    const status = {
      phase: 'Failed',
      containerStatuses: [{ name: 'sandbox', state: { terminated: { reason: 'OOMKilled', exitCode: 137 } } }],
    };
    expect(toPodView(pod(status))).toMatchObject({
      up: false,
      outOfMemory: true,
      exitCode: 137,
      failure: { kind: 'pod', reason: 'its pod ended: container sandbox ended with OOMKilled, exit code 137' },
    });
  });

  it('has ended as soon as its container has, before its phase says so', () => {
    const status = main({ terminated: { reason: 'Completed', exitCode: 0 } });
    expect(toPodView(pod(status))).toMatchObject({ up: false, failure: { kind: 'pod', reason: 'its pod ended' } });
  });

  it('reports an eviction in the words of the node', () => {
    const status = { phase: 'Failed', reason: 'Evicted', message: 'usage of EmptyDir exceeds the limit' };
    expect(toPodView(pod(status)).failure).toEqual({
      kind: 'pod',
      reason: 'its pod ended: Evicted: usage of EmptyDir exceeds the limit',
    });
  });

  it('says so when the helper of its image does not know what this platform asks of it', () => {
    const state = { terminated: { reason: 'Error', exitCode: 2 } };
    const status = { phase: 'Failed', initContainerStatuses: [{ name: 'helper', state }] };
    expect(toPodView(pod(status)).failure?.reason).toMatch(/^its pod ended: the helper image is of another version/);
  });

  it('keeps no more of a text than it needs, whatever the cluster sends', () => {
    const long = 'x'.repeat(1024 * 1024);
    const conditions = [{ type: 'PodScheduled', status: 'False', message: long }];
    const object = pod({ phase: 'Failed', message: long, conditions });
    const view = toPodView({
      ...object,
      metadata: { ...object.metadata, name: long, uid: long, resourceVersion: long },
    });
    expect(JSON.stringify(view).length).toBeLessThan(4000);
  });

  it.each(['name', 'uid', 'resourceVersion'])('refuses a %s that is not a string', (field) => {
    const object = pod({ phase: 'Running' });
    const metadata = { ...object.metadata, [field]: { large: 'x'.repeat(1024 * 1024) } };
    expect(() => toPodView({ ...object, metadata })).toThrow(/not a string/);
  });

  it('reports why no node takes it', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    expect(toPodView(pod({ phase: 'Pending', conditions }))).toMatchObject({
      failure: null,
      pending: { kind: 'room', reason: '0/3 nodes are available' },
    });
  });

  it.each([undefined, null, 'text', [], { containerStatuses: 7 }])('takes a malformed status %j for none', (status) => {
    expect(toPodView(pod(status))).toMatchObject({ up: false, failure: null, pending: null, exitCode: null });
  });
});
