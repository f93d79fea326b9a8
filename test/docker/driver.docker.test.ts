import { rm } from 'node:fs/promises';
import { describeRequiring } from '@svc/testing';
import { dockerSubject } from '@svc/sandboxes/testing/docker-subject';
import { driverContract, type ContractSubject } from '@svc/sandboxes/testing/driver-contract';
import { runningContract } from '@svc/sandboxes/testing/running-contract';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../kubernetes/commands.ts';
import { makeBusyboxRoot } from '../kubernetes/images.ts';
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
    return { driver, spec: (name) => sampleSpec(name), again: () => again(), recount: () => docker.recount(), dispose };
  };
  describe('DockerDriver', () => driverContract(subject, ['mounts', 'volumes']));
  describe('DockerDriver with programs', () => runningContract(subject, ['mounts', 'volumes']));

  it('leaves no snapshot image and no unnamed image behind', async () => {
    expect(await imagesOf(docker.socket, 'label=svc.snapshot')).toEqual([]);
    expect(await imagesOf(docker.socket, 'dangling=true')).toEqual([]);
  });

  it('imports its helper once, however often it starts', async () => {
    const { driver, again, dispose } = await dockerSubject({ socket: docker.socket });
    const second = again();
    try {
      expect(await driver.open()).toMatchObject({ available: true });
      const before = await imagesOf(docker.socket);
      await driver.open();
      expect(await second.open()).toMatchObject({ available: true });
      expect(await imagesOf(docker.socket)).toEqual(before);
    } finally {
      await second.close();
      await dispose();
    }
  });

  it('replaces an image that only has the helper’s name', async () => {
    const { driver, dispose } = await dockerSubject({ socket: docker.socket });
    const root = await makeBusyboxRoot();
    try {
      await driver.open();
      const [helper = ''] = await imagesOf(docker.socket, 'label=svc.helper');
      const [id = '', name = ''] = helper.split(' ');
      const volume = name.replace(':', '-');
      await engine(docker.socket, 'volume', 'rm', volume);
      await engine(docker.socket, 'rmi', id);
      await docker.importImage(name, root);
      expect(await driver.open()).toMatchObject({ available: true });
      expect(await imagesOf(docker.socket, 'label=svc.helper')).toEqual([expect.stringContaining(name)]);
      expect(await imagesOf(docker.socket, 'dangling=true')).toEqual([]);
    } finally {
      await rm(root, { recursive: true, force: true });
      await dispose();
    }
  });
});

/** Returns `ID NAME` of each image, including intermediate ones. */
async function imagesOf(socket: string, filter?: string): Promise<string[]> {
  const chosen = filter === undefined ? [] : ['--filter', filter];
  const format = ['--no-trunc', '--format', '{{.ID}} {{.Repository}}:{{.Tag}}'];
  const listed = await engine(socket, 'images', '--all', ...chosen, ...format);
  return listed
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}

async function engine(socket: string, ...args: string[]): Promise<string> {
  return (await runCommand('docker', ['-H', `unix://${socket}`, ...args])).stdout;
}
