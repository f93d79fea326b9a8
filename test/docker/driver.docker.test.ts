import { describeRequiring } from '@svc/testing';
import { dockerSubject } from '@svc/sandboxes/testing/docker-subject';
import { driverContract, type ContractSubject } from '@svc/sandboxes/testing/driver-contract';
import { runningContract } from '@svc/sandboxes/testing/running-contract';
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

  const subject = async (): Promise<ContractSubject> => {
    const { driver, again, dispose } = await dockerSubject({ socket: docker.socket });
    return { driver, spec: (name) => sampleSpec(name), again: () => again(), dispose };
  };
  describe('DockerDriver', () => driverContract(subject, { snapshots: false }));
  describe('DockerDriver with programs', () => runningContract(subject));
});
