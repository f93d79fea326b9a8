import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import { runSvc, startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { startVault } from './server.ts';

const Bucket = 'sealed';

describeRequiring(['linux', 'go'], 'svc up with keys in a real Vault', () => {
  it(
    'migrates there and back, survives its loss, and reveals the token nowhere',
    { timeout: 10 * 60_000 },
    async () => {
      const folder = await temporaryFolder();
      const vault = await startVault();
      const data = ['--data', folder.path];
      const environment: Record<string, string> = { SVC_SERVICES: 'object-store' };
      const inVault = {
        ...environment,
        SVC_OBJECT_STORE_KEY_SERVICE_KIND: 'vault-transit',
        SVC_OBJECT_STORE_KEY_SERVICE_CACHE_SECONDS: '1',
        SVC_OBJECT_STORE_KEY_SERVICE_VAULT_ADDRESS: vault.address,
        SVC_VAULT_TOKEN: vault.token,
      };
      const keys = async () => {
        const { stdout } = await runSvc(['admin', 'keys', '--json', ...data], inVault);
        // each test states its expectations
        return JSON.parse(stdout) as { id: number; wrapped_by: string; objects: number }[];
      };
      try {
        const local = await startPlatform({ dataFolder: folder.path, environment });
        const credentials = await makeKey(local);
        const clientOf = ({ ready }: RunningPlatform) =>
          new S3Client({
            endpoint: ready.s3_endpoint,
            region: 'auto',
            forcePathStyle: true,
            credentials,
            maxAttempts: 1,
          });
        const get = async (platform: RunningPlatform) =>
          await (await clientOf(platform).send(new GetObjectCommand({ Bucket, Key: 'k' }))).Body?.transformToString();
        await clientOf(local).send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'kept' }));
        await local.stop();

        const moved = await runSvc(['admin', 'rotate-keys', '--master', ...data], inVault);
        expect(moved).toMatchObject({ exitCode: 0 });
        expect(await keys()).toMatchObject([{ id: 2, wrapped_by: 'vault-transit:transit/svc', objects: 1 }]);
        const platform = await startPlatform({ dataFolder: folder.path, environment: inVault });
        expect(await get(platform)).toBe('kept');
        await vault.seal();
        await expect
          .poll(() => get(platform).catch((error: unknown) => (error as { $metadata?: object }).$metadata))
          .toMatchObject({ httpStatusCode: 503 });
        expect((await fetch(`${platform.ready.url}/readyz`)).status).toBe(200);
        await vault.unseal();
        expect(await get(platform)).toBe('kept');
        expect(await platform.stop()).toBe(0);
        expect(platform.log()).not.toContain(vault.token);

        const back = { ...inVault, SVC_OBJECT_STORE_KEY_SERVICE_KIND: 'local' };
        expect(await runSvc(['admin', 'rotate-keys', '--master', ...data], back)).toMatchObject({ exitCode: 0 });
        await vault.close();
        const again = await startPlatform({ dataFolder: folder.path, environment });
        expect(await get(again)).toBe('kept');
        await again.stop();
      } finally {
        await vault.close();
        await folder.remove();
      }
    },
  );
});

async function makeKey({ ready }: RunningPlatform): Promise<{ accessKeyId: string; secretAccessKey: string }> {
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  const api = apiClient(ready);
  await api.post(`${base}/buckets`, { name: Bucket });
  return (await api.post<{ data: { accessKeyId: string; secretAccessKey: string } }>(`${base}/keys`, {})).data;
}
