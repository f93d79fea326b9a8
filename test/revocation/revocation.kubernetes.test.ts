import { skippedTitle } from '@svc/testing';
import { describe } from 'vitest';
import { TEST_IMAGE } from '../kubernetes/agent-fixture.ts';
import { kubernetesRequirement, startKubernetes } from '../kubernetes/index.ts';
import { createSandboxNamespace, HELPER_IMAGE } from '../kubernetes/sandbox-namespace.ts';
import { sandboxesOfDriver } from './sandboxes-of-driver.ts';

const reason = await kubernetesRequirement();
const title = 'every channel of sandboxes that are pods';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () =>
  sandboxesOfDriver(async () => {
    const kubernetes = await startKubernetes();
    const namespace = await createSandboxNamespace(kubernetes, 'svc-unused');
    return {
      image: 'tiny',
      more: { network: 'none' },
      environment: {
        SVC_SANDBOXES_DRIVER: 'kubernetes',
        SVC_SANDBOXES_IMAGES: JSON.stringify([
          { name: 'tiny', sources: [{ kind: 'registry', reference: TEST_IMAGE }] },
        ]),
        SVC_SANDBOXES_KUBERNETES_KUBECONFIG: namespace.kubeconfig,
        SVC_SANDBOXES_KUBERNETES_NAMESPACE: namespace.name,
        SVC_SANDBOXES_KUBERNETES_HELPER_IMAGE: HELPER_IMAGE,
        SVC_SANDBOXES_KUBERNETES_USER_NAMESPACES: 'false',
        SVC_SANDBOXES_KUBERNETES_NETWORK_POLICIES: 'trust', // few test clusters enforce them
      },
      stop: async () => {
        await namespace[Symbol.asyncDispose]();
        await kubernetes.stop();
      },
    };
  }),
);
