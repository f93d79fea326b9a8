import { describeRequiring } from '@svc/testing';
import { dockerSubject } from '@svc/sandboxes/testing/docker-subject';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { afterAll, beforeAll } from 'vitest';
import { DOCKER_REQUIREMENTS } from '../docker/requirements.ts';
import { startDocker, type Docker } from '../docker/start.ts';
import { escapeTable } from './escape-table.ts';
import { LACKED_BY_DOCKER } from './refusal-cases.ts';
import { ESCAPE_REQUIREMENTS } from './requirements.ts';

describeRequiring([...DOCKER_REQUIREMENTS, ...ESCAPE_REQUIREMENTS], 'the escape table on the Docker driver', () => {
  let docker: Docker;
  beforeAll(async () => {
    docker = await startDocker({ storage: 'btrfs' });
  });
  afterAll(() => docker.stop());

  escapeTable(
    async () => {
      const { driver, again, dispose } = await dockerSubject({ socket: docker.socket });
      const host = `unix://${docker.socket}`;
      const config = { driver: 'docker', docker: { host, address_prefix: '100.98' } } as const;
      return { driver, spec: (name) => sampleSpec(name), config, again: () => again(), dispose };
    },
    { count: 60_000, diskMb: 16 },
    { lacks: LACKED_BY_DOCKER },
  );
});
