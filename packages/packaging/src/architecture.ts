/** Processors that deliverables are built for, by Node's names. */
export type Architecture = 'x64' | 'arm64';

/** All of them, in the order in which deliverables are listed. */
export const ARCHITECTURES: readonly Architecture[] = ['x64', 'arm64'];

/** What OCI, Debian and the loader call a processor. */
export interface ArchitectureNames {
  /** Name in OCI images and Go. */
  oci: 'amd64' | 'arm64';
  debian: 'amd64' | 'arm64';
  /** Library folder below `/lib`. */
  triplet: string;
  /** Path at which programs expect the loader; part of the ABI. */
  loader: string;
}

const NAMES: Readonly<Record<Architecture, ArchitectureNames>> = {
  x64: { oci: 'amd64', debian: 'amd64', triplet: 'x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2' },
  arm64: { oci: 'arm64', debian: 'arm64', triplet: 'aarch64-linux-gnu', loader: 'lib/ld-linux-aarch64.so.1' },
};

/** The names of a processor that Node knows under another one. */
export function namesOf(architecture: Architecture): ArchitectureNames {
  return NAMES[architecture];
}
