import type { NewDeployment } from '@svc/sdk';

/** Contents of the form. */
export interface DeployDraft {
  project: string;
  namespace: string;
  manifest: string;
  /** Seconds, as typed. */
  timeout: string;
  prune: boolean;
  wait: boolean;
  force: boolean;
}

export const EMPTY_DRAFT: DeployDraft = {
  project: '',
  namespace: 'default',
  manifest: '',
  timeout: '300',
  prune: true,
  wait: true,
  force: false,
};

/** UTF-8 bytes, as counted by the platform. */
const MOST_MANIFEST_BYTES = 900 * 1024;
const MOST_SECONDS = 86_400;

export type DraftFaults = Partial<Record<'project' | 'namespace' | 'manifest' | 'timeout', string>>;

/** Returns the error of each field; an empty field has none yet. */
export function validateDraft({ project, namespace, manifest, timeout }: DeployDraft): DraftFaults {
  const seconds = Number(timeout);
  return {
    ...(project !== '' &&
      !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(project) && {
        project: 'Use letters and digits, with dots, hyphens and underscores in between.',
      }),
    ...(namespace !== '' &&
      !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(namespace) && {
        namespace: 'Use lowercase letters and digits, with hyphens in between.',
      }),
    ...(new TextEncoder().encode(manifest).length > MOST_MANIFEST_BYTES && {
      manifest: 'The manifest is larger than 900 KiB. Split it into several projects.',
    }),
    ...((!Number.isInteger(seconds) || seconds < 1 || seconds > MOST_SECONDS) && {
      timeout: `Enter whole seconds from 1 to ${MOST_SECONDS}.`,
    }),
  };
}

export function isReady(draft: DeployDraft): boolean {
  const { project, namespace, manifest } = draft;
  const filled = [project, namespace, manifest].every((each) => each.trim() !== '');
  return filled && Object.keys(validateDraft(draft)).length === 0;
}

export function toNewDeployment(draft: DeployDraft, dryRun: boolean): NewDeployment {
  return {
    project_id: draft.project,
    namespace: draft.namespace,
    manifest: draft.manifest,
    dry_run: dryRun,
    prune: draft.prune,
    wait: draft.wait,
    force_conflicts: draft.force,
    timeout_seconds: Number(draft.timeout),
  };
}
