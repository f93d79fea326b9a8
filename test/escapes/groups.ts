import { buildCases } from './build-cases.ts';
import type { EscapeCase } from './escape-case.ts';
import { fileCases } from './file-cases.ts';
import { kernelCases } from './kernel-cases.ts';
import { mountCases } from './mount-cases.ts';
import { networkCases } from './network-cases.ts';
import { processCases } from './process-cases.ts';
import type { Feature } from './refusal-cases.ts';
import { resourceCases, type EmptyFiles } from './resource-cases.ts';
import { secretCases } from './secret-cases.ts';
import { sshCases } from './ssh-cases.ts';
import { userCases } from './user-cases.ts';
import { volumeCases } from './volume-cases.ts';

export type EscapeGroup = 'kernel' | 'processes' | 'users' | 'files' | 'network' | 'ssh' | 'resources' | Feature;

export interface GroupOfCases {
  readonly group: EscapeGroup;
  readonly heading: string;
  readonly cases: readonly EscapeCase[];
  /** What the group needs; a driver without it must refuse it instead. */
  readonly feature: Feature | null;
}

/** All groups, in the order of the documentation. */
export function escapeGroups(files: EmptyFiles): readonly GroupOfCases[] {
  const always = (group: EscapeGroup, heading: string, cases: readonly EscapeCase[]): GroupOfCases => ({
    group,
    heading,
    cases,
    feature: null,
  });
  const featured = (feature: Feature, heading: string, cases: readonly EscapeCase[]): GroupOfCases => ({
    group: feature,
    heading,
    cases,
    feature,
  });
  return [
    always('kernel', 'The kernel', kernelCases()),
    always('processes', 'Processes', processCases()),
    always('users', 'Other users than root', userCases()),
    always('files', 'Files', fileCases()),
    always('network', 'The network', networkCases()),
    featured('secrets', 'Secrets', secretCases()),
    featured('volumes', 'Volumes', volumeCases()),
    featured('mounts', 'Buckets', mountCases()),
    always('ssh', 'SSH', sshCases()),
    featured('builds', 'Template builds', buildCases()),
    always('resources', 'Resources', resourceCases(files)),
  ];
}
