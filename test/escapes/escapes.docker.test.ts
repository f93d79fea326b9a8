import { describeRequiring } from '@svc/testing';
import { dockerSubject } from '@svc/sandboxes/testing/docker-subject';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { afterAll, beforeAll } from 'vitest';
import { DOCKER_REQUIREMENTS } from '../docker/requirements.ts';
import { startDocker, type Docker } from '../docker/start.ts';
import { escapeTable } from './escape-table.ts';
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
      return { driver, spec: (name) => sampleSpec(name), again: () => again(), dispose };
    },
    { count: 60_000, diskMb: 16 },
  );
});
