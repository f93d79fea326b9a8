import type { ImageSourceSpec } from '../catalog.ts';
import { buildFromBusybox } from './busybox.ts';
import { buildFromDebianPackages } from './debootstrap.ts';
import { useRootfsTar } from './rootfs-tar.ts';

/**
 * Leaves a tar archive of a root file system in the work folder and answers its path (or that of an archive elsewhere).
 * Throws with a reason for people.
 */
export type BuildImage = (workFolder: string, signal: AbortSignal) => Promise<string>;

export function builderOf(spec: ImageSourceSpec): BuildImage {
  switch (spec.kind) {
    case 'debootstrap':
      return (workFolder, signal) => buildFromDebianPackages(spec, workFolder, signal);
    case 'busybox':
      return buildFromBusybox;
    case 'rootfs_tar':
      return () => useRootfsTar(spec.path);
  }
}

/** For messages: which of the sources it is. */
export function describeSource(spec: ImageSourceSpec): string {
  switch (spec.kind) {
    case 'debootstrap':
      return `Debian packages (${spec.suite})`;
    case 'busybox':
      return 'busybox of this machine';
    case 'rootfs_tar':
      return `archive ${spec.path}`;
  }
}
