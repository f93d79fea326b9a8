import { Download, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { sandboxDownloadPath } from '../../../api/sandbox-files.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { buttonClass, IconButton } from '../../../ui/button.tsx';
import styles from './files.module.css';

export interface FileViewProps {
  sandbox: string;
  path: string;
  onClose: () => void;
  /** Called if it turns out to be a folder, as links may. */
  onFolder: () => void;
}

export interface FileFrameProps extends FileViewProps {
  /** Content next to the path. */
  state?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function FileFrame({ sandbox, path, onClose, state, actions, children }: FileFrameProps) {
  const workspace = useWorkspace();
  return (
    <section className={styles['editor']} aria-label={path}>
      <header className={styles['editorBar']}>
        <span className={styles['editorPath']}>
          <code>{path}</code>
          {state}
        </span>
        <span className={styles['editorActions']}>
          {actions}
          <a
            className={buttonClass({ size: 'small' })}
            href={sandboxDownloadPath(workspace, sandbox, path)}
            download
            aria-label={`Download ${path}`}
          >
            <Download size={14} />
          </a>
          <IconButton label="Close file" size="small" onClick={onClose}>
            <X size={15} />
          </IconButton>
        </span>
      </header>
      {children}
    </section>
  );
}
