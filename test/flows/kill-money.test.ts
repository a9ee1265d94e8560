// kill -9 of the services that hold money and state under the main job.
import { killEach } from "./killed-main-job.ts";

killEach(["checkout", "payments", "merchant"]);
