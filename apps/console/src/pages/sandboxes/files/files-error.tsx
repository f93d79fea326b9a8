import { ApiError } from '@svc/sdk';
import { describeError } from '../../../ui/describe-error.ts';
import { ErrorState } from '../../../ui/states.tsx';

interface Fault {
  title: string;
  remedy: string;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  VOLUME_ELSEWHERE: { title: 'The volume is on another node', remedy: 'Try again when that node is running.' },
  REPLICA_UNREACHABLE: { title: 'The node cannot be reached', remedy: 'The files are kept.' },
  VOLUMES_BUSY: {
    title: 'The volume cannot be opened yet',
    remedy: 'A volume is free again a few seconds after its last use.',
  },
  VOLUMES_UNAVAILABLE: { title: 'Volumes are not available here', remedy: 'The files are kept.' },
  PATH_NOT_FOUND: {
    title: 'File or folder not found',
    remedy: 'It may have been moved or deleted, or be a link that leads nowhere.',
  },
  NOT_A_FILE: { title: 'The file cannot be opened', remedy: 'Devices, pipes and sockets have no content to show.' },
  NOT_A_DIRECTORY: { title: 'The folder cannot be opened', remedy: 'It may have been replaced by a file.' },
};

export interface FilesErrorProps {
  error: unknown;
  onRetry: () => void;
}

/** Why a folder or file cannot be shown, and what to do about it. */
export function FilesError({ error, onRetry }: FilesErrorProps) {
  const fault = error instanceof ApiError ? FAULTS[error.code] : undefined;
  if (fault === undefined) return <ErrorState error={error} onRetry={onRetry} />;
  return (
    <ErrorState error={error} title={fault.title} onRetry={onRetry}>
      {describeError(error)}. {fault.remedy}
    </ErrorState>
  );
}
