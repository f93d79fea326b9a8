import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKubeClient, staticToken } from '@svc/kube';
import { expect, it } from 'vitest';
import { dryRunAll } from './apply.ts';
import type { PlannedObject } from './plan.ts';

const KINDS = { resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['patch'] }] };

function configMap(name: string): PlannedObject {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' } };
  return { object, field: `manifest[${name}]`, namespaced: true, dependsOnManifest: false };
}

it('stops asking an API server that became unreachable', async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(KINDS));
      return;
    }
    asked += 1;
    request.socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // TCP: never a string
  const access = { insecureSkipVerify: false, namespace: 'shop', token: staticToken(null) };
  const client = createKubeClient({ ...access, server: new URL(`http://127.0.0.1:${port}`) });
  const planned = Array.from({ length: 100 }, (_, index) => configMap(`map-${index}`));
  const request = { client, fieldManager: 'svc-agent', force: false, signal: new AbortController().signal };
  const { failures } = await dryRunAll(request, planned);
  client.close();
  server.closeAllConnections();
  server.close();
  expect(failures[0]?.error).toMatchObject({ code: 'KUBERNETES_UNREACHABLE' });
  expect(asked).toBeLessThan(10);
});
