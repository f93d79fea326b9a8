import { kubernetesSubject } from '@svc/sandboxes/testing/kubernetes-subject';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { TEST_IMAGE } from '../kubernetes/agent-fixture.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from '../kubernetes/index.ts';
import { createSandboxNamespace, HELPER_IMAGE, type SandboxNamespace } from '../kubernetes/sandbox-namespace.ts';
import { escapeTable } from './escape-table.ts';
import type { EscapeSubject } from './ground.ts';
import { LACKED_BY_PODS, LEFT_ON_PODS } from './on-pods.ts';

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'the escape table on the Kubernetes driver';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  beforeAll(async () => {
    kubernetes = await startKubernetes();
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused');
  });
  afterAll(async () => {
    await namespace?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
  });

  escapeTable(
    async () => {
      const { kubeconfig, name } = namespace;
      const { driver, again, dispose } = kubernetesSubject({
        kubeconfig,
        namespace: name,
        image: TEST_IMAGE,
        helperImage: HELPER_IMAGE,
        owner: 'escapes',
        changes: { nameservers: ['9.9.9.9'] },
      });
      const config = {
        driver: 'kubernetes',
        nameservers: ['9.9.9.9'],
        images: [{ name: 'busybox', sources: [{ kind: 'registry', reference: TEST_IMAGE }] }],
        kubernetes: {
          kubeconfig,
          namespace: name,
          helper_image: HELPER_IMAGE,
          user_namespaces: false,
          denied_networks: [],
          network_policies: 'trust',
        },
      } as const satisfies EscapeSubject['config'];
      return { driver, spec: (each) => sampleSpec(each), config, again: () => again(), dispose };
    },
    { count: 60_000, diskMb: 16 },
    { leaves: LEFT_ON_PODS, lacks: LACKED_BY_PODS },
  );
});
