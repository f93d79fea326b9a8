import { describeRequiring } from '@svc/testing';
import { dockerSubject } from '@svc/sandboxes/testing/docker-subject';
import { driverContract } from '@svc/sandboxes/testing/driver-contract';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { afterAll, beforeAll, describe } from 'vitest';
import { DOCKER_REQUIREMENTS } from './requirements.ts';
import { startDocker, type Docker } from './start.ts';

describeRequiring(DOCKER_REQUIREMENTS, 'the Docker driver', () => {
  let docker: Docker;
  beforeAll(async () => {
    docker = await startDocker({ storage: 'btrfs' });
  });
  afterAll(() => docker.stop());

  describe('DockerDriver', () => {
    driverContract(async () => {
      const subject = await dockerSubject({ socket: docker.socket });
      return { driver: subject.driver, spec: (name) => sampleSpec(name), dispose: () => subject.dispose() };
    });
  });
});
