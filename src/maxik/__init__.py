"""maxik evaluates 3ds Max inverse-kinematics rigs without 3ds Max, with the reference's own float32 bits."""
