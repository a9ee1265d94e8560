// kill -9 of the processes at the edge under the main job.
import { killEach } from "./killed-main-job.ts";

killEach(["webhook", "gateway", "simulator"]);
