import type { EscapeCase } from './escape-case.ts';
import type { Ground } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { failureOf } from './platform-ground.ts';

/** What a driver may lack. The module must refuse it by name then: there is nothing to break out of. */
export type Feature = 'secrets' | 'volumes' | 'mounts' | 'builds';

/** An engine has no place for them. */
export const LACKED_BY_DOCKER: readonly Feature[] = ['secrets', 'volumes', 'mounts', 'builds'];

interface Refusal {
  readonly title: string;
  readonly code: string;
  readonly path: string;
  readonly body: (ground: Ground) => Promise<Readonly<Record<string, unknown>>>;
}

const CREATE = '/api/containers';

const REFUSALS: Readonly<Record<Feature, Refusal>> = {
  secrets: {
    title: 'has secrets added to its requests although nothing protects them',
    code: 'UNSUPPORTED_EGRESS_RULES',
    path: CREATE,
    body: async (ground) => {
      const { platform } = await ground.platform();
      await platform.call('POST', '/api/secrets', { body: { name: 'escapes', value: 'never inside' } });
      const rule = { host: 'api.example.com', header: 'x-key', secret: 'escapes' };
      return { image: 'busybox', network: 'egress', egress_rules: [rule] };
    },
  },
  volumes: {
    title: 'mounts a volume although nothing limits it',
    code: 'VOLUMES_UNAVAILABLE',
    path: '/api/volumes',
    body: async () => ({ name: 'escapes' }),
  },
  mounts: {
    title: 'mounts a bucket although nothing serves it',
    code: 'MOUNTS_UNAVAILABLE',
    path: CREATE,
    body: async (ground) => {
      const bucket = await (await ground.platform()).bucket('refused', []);
      return { image: 'busybox', mounts: [{ bucket, path: '/data' }] };
    },
  },
  builds: {
    title: 'is built into an image although nothing confines the build',
    code: 'TEMPLATES_UNAVAILABLE',
    path: '/api/templates/escapes/builds',
    body: async () => ({ from: 'busybox', steps: [{ run: 'true' }] }),
  },
};

/** The only case of a group whose feature the driver lacks. */
export function refusalCases(feature: Feature): EscapeCase[] {
  const { title, code, path, body } = REFUSALS[feature];
  return [
    {
      title,
      attempt: async (ground) => {
        const { platform } = await ground.platform();
        const answer = await platform.call('POST', path, { body: await body(ground) });
        if (answer.status >= 400 && answer.body['code'] !== code) throw new Error(failureOf(answer));
        return { done: answer.status < 400, detail: failureOf(answer) };
      },
      control: runs,
    },
  ];
}

/** The same module runs a sandbox without the feature. */
async function runs(ground: Ground): Promise<Outcome> {
  return (await (await ground.platform()).sandbox('plain')).succeeds('true');
}
