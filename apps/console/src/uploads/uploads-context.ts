import type { Workspace } from '@svc/sdk';
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { FileOwner } from '../api/sandbox-types.ts';
import type { Upload, UploadQueue } from './upload-queue.ts';

interface NewFile {
  workspace: Workspace;
  /** The object's key, or the absolute path in the sandbox or volume. */
  key: string;
  file: File;
}

export type NewUpload = NewFile & ({ bucket: string } | { owner: FileOwner });

export interface Uploads {
  readonly queue: UploadQueue;
  add(uploads: readonly NewUpload[]): void;
}

const UploadsContext = createContext<Uploads | null>(null);

export const UploadsProvider = UploadsContext.Provider;

export function useUploads(): Uploads {
  const uploads = useContext(UploadsContext);
  if (uploads === null) throw new Error('useUploads outside of UploadsProvider');
  return uploads;
}

export function useUploadList(): readonly Upload[] {
  const { queue } = useUploads();
  return useSyncExternalStore(queue.subscribe, queue.snapshot);
}
