import { randomUUID } from 'node:crypto';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesRequirement, startKubernetes, type Kubernetes } from './index.ts';
import { createKubeClient, kubeconfigAccess, staticToken, type KubeClient, type KubeObject } from '@svc/kube';

const reason = await kubernetesRequirement(true);
const title = 'a client of a real API server';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  const namespace = `kube-${randomUUID().slice(0, 8)}`;
  let kubernetes: Kubernetes;
  let client: KubeClient;

  beforeAll(async () => {
    kubernetes = await startKubernetes({ apiOnly: true });
    client = createKubeClient(await kubeconfigAccess(kubernetes.kubeconfig));
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });

  afterAll(async () => {
    await client?.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
    client?.close();
    await kubernetes?.stop();
  });

  const configMap = (name: string, data: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data,
  });

  it('is ready and reports its version', async () => {
    await client.ready();
    expect((await client.version()).gitVersion).toMatch(/^v1\.\d+\./);
  });

  it('applies, distinguishes created from changed, and persists nothing in a dry run', async () => {
    const dry = await client.apply(configMap('dry', { a: '1' }), { fieldManager: 'one', dryRun: true });
    expect(dry.created).toBe(true);
    expect(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'dry' })).toBeNull();
    const first = await client.apply(configMap('same', { a: '1' }), { fieldManager: 'one' });
    const again = await client.apply(configMap('same', { a: '1' }), { fieldManager: 'one' });
    const changed = await client.apply(configMap('same', { a: '2' }), { fieldManager: 'one' });
    expect([first.created, again.created, changed.created]).toEqual([true, false, false]);
    expect(again.object.metadata.resourceVersion).toBe(first.object.metadata.resourceVersion);
    expect(changed.object.metadata.resourceVersion).not.toBe(first.object.metadata.resourceVersion);
  });

  it('names the field and manager of a conflict, and takes the field with force', async () => {
    await client.apply(configMap('shared', { a: '1' }), { fieldManager: 'one' });
    const attempt = client.apply(configMap('shared', { a: '2' }), { fieldManager: 'two' });
    await expect(attempt).rejects.toMatchObject({
      status: 409,
      reason: 'Conflict',
      causes: [
        { reason: 'FieldManagerConflict', field: '.data.a', message: expect.stringContaining('"one"') as string },
      ],
    });
    const forced = await client.apply(configMap('shared', { a: '2' }), { fieldManager: 'two', force: true });
    expect(forced.object['data']).toEqual({ a: '2' });
  });

  it('passes on warnings of the server and rejects a field that the schema does not have', async () => {
    const container = { name: 'main', image: 'localhost/busybox:1' };
    const applied = await client.apply(
      {
        apiVersion: 'v1',
        kind: 'PodTemplate',
        metadata: { name: 'warned', namespace },
        template: { spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' }, containers: [container] } },
      },
      { fieldManager: 'one' },
    );
    expect(applied.warnings.join(' ')).toContain('beta.kubernetes.io/os');
    const unknown = client.apply({ ...configMap('unknown', {}), colour: 'blue' }, { fieldManager: 'one' });
    await expect(unknown).rejects.toMatchObject({ message: expect.stringContaining('.colour') as string });
  });

  it('deletes only the intended object', async () => {
    const { object } = await client.apply(configMap('gone', {}), { fieldManager: 'one' });
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'gone' };
    await expect(client.delete(reference, { uid: randomUUID() })).rejects.toMatchObject({ status: 409 });
    expect(await client.delete(reference, { uid: object.metadata.uid ?? '' })).toBe(true);
    expect(await client.delete(reference)).toBe(false);
  });

  it('lists in pages and watches from there, with bookmarks', async () => {
    for (let index = 0; index < 7; index += 1) {
      await client.apply(
        { ...configMap(`page-${index}`, {}), metadata: { name: `page-${index}`, namespace, labels: { page: 'yes' } } },
        { fieldManager: 'one' },
      );
    }
    const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const names: string[] = [];
    let resourceVersion = '';
    let pages = 0;
    for await (const page of client.list(kind, {
      namespace,
      labelSelector: 'page=yes',
      pageSize: 3,
      metadataOnly: true,
    })) {
      pages += 1;
      names.push(...page.items.map((item) => item.metadata.name));
      resourceVersion = page.resourceVersion;
    }
    expect({ pages, names: names.length }).toEqual({ pages: 3, names: 7 });
    const controller = new AbortController();
    const watch = client.watch(kind, { namespace, resourceVersion, signal: controller.signal });
    const next = watch.next();
    await client.apply(configMap('watched', { seen: 'yes' }), { fieldManager: 'one' });
    expect((await next).value).toMatchObject({
      type: 'ADDED',
      object: { kind: 'ConfigMap', metadata: { name: 'watched' } },
    });
    controller.abort();
    expect((await watch.next()).done).toBe(true);
  });

  it('recognizes an expired resource version by status 410', async () => {
    const watch = client.watch({ apiVersion: 'v1', kind: 'ConfigMap' }, { namespace, resourceVersion: '1' });
    // New servers still remember version 1: the watch then starts there.
    const first = await watch.next().catch((error: unknown) => error);
    expect(first).toSatisfy(
      (value: { status?: number; value?: unknown }) => value.status === 410 || value.value !== undefined,
    );
    await watch.return(undefined);
  });

  it('finds kinds that were defined after its discovery', async () => {
    const kind = { apiVersion: `${namespace}.example/v1`, kind: 'Widget' };
    await expect(client.get({ ...kind, namespace, name: 'w' })).rejects.toMatchObject({ code: 'UNKNOWN_KIND' });
    const name = `widgets.${namespace}.example`;
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    await client.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: `${namespace}.example`,
        scope: 'Namespaced',
        names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    await waitFor(async () => (await client.discovery.find(kind)).plural === 'widgets');
    const widget = { ...kind, metadata: { name: 'w', namespace }, spec: { size: 3 } };
    expect((await client.apply(widget, { fieldManager: 'one' })).created).toBe(true);
    await client.delete({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name });
  });

  it('is refused with an unknown token', async () => {
    const { clientCertificate: _certificate, clientKey: _key, ...anonymous } = client.access;
    const stranger = createKubeClient({ ...anonymous, token: staticToken('no-such-token') });
    await expect(stranger.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'x' })).rejects.toMatchObject({
      status: 401,
    });
    stranger.close();
  });
});
