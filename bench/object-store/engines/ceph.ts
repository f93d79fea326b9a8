import { startCeph } from '@svc/test/ceph';
import type { Engine } from './engine.ts';

/**
 * One monitor, one storage daemon on BlueStore in a sparse file, one gateway with `tcp_nodelay`, and a single replica.
 */
export async function startCephEngine(): Promise<Engine> {
  const { endpoint, accessKeyId, secretAccessKey, stop } = await startCeph();
  return { name: 'Ceph RGW', endpoint, region: 'us-east-1', accessKeyId, secretAccessKey, stop };
}
