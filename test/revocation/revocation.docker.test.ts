import { describeRequiring } from '@svc/testing';
import { DOCKER_REQUIREMENTS } from '../docker/requirements.ts';
import { startDocker } from '../docker/start.ts';
import { sandboxesOfDriver } from './sandboxes-of-driver.ts';

describeRequiring(DOCKER_REQUIREMENTS, 'every channel of sandboxes in a Docker Engine', () =>
  sandboxesOfDriver(async () => {
    const docker = await startDocker();
    return {
      image: 'busybox',
      more: {},
      environment: {
        SVC_SANDBOXES_DRIVER: 'docker',
        SVC_SANDBOXES_DOCKER_HOST: `unix://${docker.socket}`,
        SVC_SANDBOXES_IMAGE_REGISTRY: '',
      },
      stop: () => docker.stop(),
    };
  }),
);
