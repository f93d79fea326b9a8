import { describeRequiring } from '@svc/testing';
import { dockerSubject, type DockerSubject } from '@svc/sandboxes/testing/docker-subject';
import { runInSandbox } from '@svc/sandboxes/testing/run-in-sandbox';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DOCKER_REQUIREMENTS } from '../docker/requirements.ts';
import { startDocker, type Docker } from '../docker/start.ts';
import { ensureGvisor } from './binaries.ts';

const LIMIT_MS = 60_000;

describeRequiring([...DOCKER_REQUIREMENTS, 'go'], 'sandboxes behind gVisor', () => {
  let docker: Docker;
  let subject: DockerSubject;
  beforeAll(async () => {
    const { runtime } = await ensureGvisor();
    docker = await startDocker({ storage: 'btrfs', runtimes: { runsc: runtime } });
    subject = await dockerSubject({ socket: docker.socket });
    expect(await subject.driver.open()).toMatchObject({ available: true, details: { gvisor: true } });
  });
  afterAll(async () => {
    await subject.dispose();
    await docker.stop();
  });

  it('runs programs on gVisor’s kernel, and other sandboxes on the host’s', async () => {
    const kernels: string[] = [];
    for (const isolation of ['gvisor', 'namespaces'] as const) {
      const spec = sampleSpec(`kernel-${isolation}`, {
        isolation,
        resources: { cpuMillis: 1000, memoryMb: 256, diskMb: 64, pids: 256 },
      });
      const signal = AbortSignal.timeout(LIMIT_MS);
      await subject.driver.create(spec, signal);
      await subject.driver.start(spec, signal);
      const connection = await subject.driver.connect(spec.id, signal);
      const { stdout } = await runInSandbox(connection, ['sh', '-c', 'echo kept > /root/file; cat /proc/version']);
      kernels.push(stdout);
      await connection.close();
      const again = await subject.driver.connect(spec.id, signal);
      expect((await runInSandbox(again, ['cat', '/root/file'])).stdout).toBe('kept\n');
      await again.close();
      await subject.driver.stop(spec.id, 2000);
      await subject.driver.start(spec, signal);
      const restarted = await subject.driver.connect(spec.id, signal);
      expect((await runInSandbox(restarted, ['cat', '/root/file'])).stdout).toBe('kept\n');
      await restarted.close();
      await subject.driver.stop(spec.id, 2000);
      await subject.driver.remove(spec.id);
    }
    expect(kernels[0]).toMatch(/^Linux version 4\.4\.0 /); // gVisor's reported version
    expect(kernels[1]).not.toBe(kernels[0]);
  });

  it('serves a second connection while the first is open', async () => {
    const spec = sampleSpec('gvisor-two', {
      isolation: 'gvisor',
      resources: { cpuMillis: 1000, memoryMb: 256, diskMb: 64, pids: 256 },
    });
    const signal = AbortSignal.timeout(LIMIT_MS);
    await subject.driver.create(spec, signal);
    await subject.driver.start(spec, signal);
    const first = await subject.driver.connect(spec.id, signal);
    const second = await subject.driver.connect(spec.id, signal);
    await Promise.all([first.ping(), second.ping()]);
    await Promise.all([first.close(), second.close()]);
    await subject.driver.remove(spec.id);
  });
});
