import { Upload } from 'lucide-react';
import { useRef, useState, type DragEvent, type ReactNode } from 'react';
import { classNames } from '../ui/class-names.ts';
import styles from './drop-area.module.css';
import { droppedFiles, type DroppedFile } from './dropped-files.ts';

export interface DropAreaProps {
  disabled: boolean;
  /** The target folder, such as `photos/`. */
  folder: string;
  onDrop: (files: readonly DroppedFile[]) => void;
  children: ReactNode;
}

/** Accepts files and folders dropped anywhere on it. */
export function DropArea({ disabled, folder, onDrop, children }: DropAreaProps) {
  // Entering a child precedes leaving its parent, so count the depth to know whether the pointer is inside.
  const depth = useRef(0);
  const [over, setOver] = useState(false);
  const carriesFiles = (event: DragEvent): boolean => !disabled && event.dataTransfer.types.includes('Files');
  const leave = (): void => {
    depth.current = Math.max(0, depth.current - 1);
    if (depth.current === 0) setOver(false);
  };
  return (
    <div
      className={classNames(styles['drop'], over && styles['over'])}
      onDragEnter={(event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        depth.current += 1;
        setOver(true);
      }}
      onDragOver={(event) => {
        if (carriesFiles(event)) event.preventDefault();
      }}
      onDragLeave={(event) => {
        if (carriesFiles(event)) leave();
      }}
      onDrop={(event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        void droppedFiles(event.dataTransfer).then(onDrop);
      }}
    >
      {children}
      {over && (
        <div className={styles['overlay']} aria-hidden="true">
          <Upload size={18} /> Upload to {folder}
        </div>
      )}
    </div>
  );
}
